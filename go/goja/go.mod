module millrace.dev/go/goja

go 1.25.0

require (
	github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b
	github.com/dop251/goja_nodejs v0.0.0-20260212111938-1f56ff5bcf14
	go.uber.org/goleak v1.3.0
	millrace.dev/go v0.0.0
)

replace millrace.dev/go => ../
