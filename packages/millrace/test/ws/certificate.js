/** A self-signed certificate for tests over TLS, always the same: to make one is to start a process. */
// Made for these tests alone and known to everybody: it protects nothing.
const made = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8Vd03esOD1HXW+pD
WO0Av+2Un6E6aJSFmErgQTBjUXWhRANCAAQ7pXpP3Sywl7EDwZkP1mOZEKmbEYpg
C2/mjyjPfcCJbpDTSgs/eH/XnxolcseI3+vMmrYp3XR67FLCAcRyTljr
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUF8fdjmsJUKSFPTDwW+mfL7IaAMEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMDEyMDIwOVoYDzIxMjYxMDI3
MTIwMjA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQ7pXpP3Sywl7EDwZkP1mOZEKmbEYpgC2/mjyjPfcCJbpDTSgs/eH/X
nxolcseI3+vMmrYp3XR67FLCAcRyTljro1MwUTAdBgNVHQ4EFgQUKEak+TqV46Qp
FWTa43Y+aJGvUZswHwYDVR0jBBgwFoAUKEak+TqV46QpFWTa43Y+aJGvUZswDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBrurVKlHqYGiT+TZF09lM8
7svqCn0CMBMVKTgJw/1GsQIhAJRI/b7vWjbbdndyJuRZ53aHZac8QnlUWTehh14U
IXbq
-----END CERTIFICATE-----
`,
};

/** The key and the certificate, as servers of node:tls and node:https take them. */
export const certificate = () => made;
