package main

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// wrapper makes a function of a CommonJS module, here and in require.
const wrapper = "(function(exports,require,module,__filename,__dirname){"

// withColumns adds a source map to code, so that positions on its first line do not count the wrapper. Code that has a
// map of its own keeps that, and a path that is no URL as it stands would look different in the map.
func withColumns(path, code string) string {
	location, err := url.Parse(path)
	if err != nil || location.String() != path || strings.Contains(code, "\n//# sourceMappingURL=") {
		return code
	}
	first, _, _ := strings.Cut(code, "\n")
	sourceMap, err := json.Marshal(map[string]any{
		"version": 3,
		"sources": []string{path},
		"names":   []string{},
		// Column 1 is 1, as goja counts. Then each is one more, here and there.
		"mappings": vlq(len(wrapper)+1) + "AAC" + strings.Repeat(",CAAC", len(first)),
	})
	if err != nil {
		return code
	}
	return code + "\n//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString(sourceMap)
}

// vlq is a positive number as source maps write it: five bits a digit, the lowest first, and below them the sign.
func vlq(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var text strings.Builder
	for n <<= 1; n > 31; n >>= 5 {
		text.WriteByte(digits[n&31|32])
	}
	text.WriteByte(digits[n])
	return text.String()
}
