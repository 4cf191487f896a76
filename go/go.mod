module millrace.dev/go

go 1.25
