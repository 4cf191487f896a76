/** Operator, account and user of a NATS server, whose users show a signed token: what the command nsc makes. */
import { nkeys } from '@nats-io/transport-node';

/**
 * @returns {{ config: string, creds: string }} the configuration of a server and the text of a `.creds` file that it takes
 */
export function credentials() {
  const [operator, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const limits = { subs: -1, data: -1, payload: -1 };
  const operatorToken = sign(operator, operator, { type: 'operator' });
  const accountLimits = {
    ...limits,
    imports: -1,
    exports: -1,
    wildcards: true,
    conn: -1,
    leaf: -1,
  };
  const accountToken = sign(operator, account, { type: 'account', limits: accountLimits });
  const userToken = sign(account, user, { type: 'user', ...limits });
  const seed = Buffer.from(user.getSeed()).toString();
  return {
    config: `operator: ${operatorToken}
resolver: MEMORY
resolver_preload: { ${account.getPublicKey()}: ${accountToken} }
`,
    creds: `-----BEGIN NATS USER JWT-----
${userToken}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`,
  };
}

function sign(issuer, subject, nats) {
  const claims = {
    jti: Math.random().toString(36),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: nats.type,
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const head = encode({ typ: 'JWT', alg: 'ed25519-nkey' });
  const text = `${head}.${encode(claims)}`;
  const signature = Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url');
  return `${text}.${signature}`;
}

const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
