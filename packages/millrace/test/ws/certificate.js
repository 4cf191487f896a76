/** A self-signed certificate for tests over TLS. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new one from the `openssl` program if that is installed, else the one below. */
export function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-certificate-'));
  try {
    const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const output = [
      '-keyout',
      files.key,
      '-out',
      files.cert,
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
    ];
    execFileSync('openssl', [...kind, ...output], { stdio: 'ignore' });
    return { key: readFileSync(files.key), cert: readFileSync(files.cert) };
  } catch {
    return fallback;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Made for these tests alone and known to everybody: it protects nothing.
const fallback = {
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
