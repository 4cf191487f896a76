{
  "targets": [
    {
      "target_name": "squares",
      "sources": ["squares.c"],
      "include_dirs": ["<!(node -e \"import('millrace/threads').then(m => console.log(m.include))\")"]
    }
  ]
}
