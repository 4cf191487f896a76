{
  "targets": [
    {
      "target_name": "millrace",
      "sources": ["<!@(node sources.cjs)"],
      "include_dirs": ["<!@(node sources.cjs --include)"],
      "defines": [
        "NAPI_VERSION=8",
        "_GNU_SOURCE",
        "UV_BATCH_BUILDING",
        "MILLRACE_VERSION=\"<!(node sources.cjs --version)\""
      ],
      "cflags": ["-std=gnu11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"],
      "xcode_settings": {
        "GCC_C_LANGUAGE_STANDARD": "gnu11",
        "GCC_SYMBOLS_PRIVATE_EXTERN": "YES"
      },
      "msvs_settings": {
        "VCCLCompilerTool": { "AdditionalOptions": ["/std:c11", "/experimental:c11atomics"] }
      }
    }
  ]
}
