// A certified OpenID provider for one client, which lets anybody in under the name they type.
// Prints its port; stops when its standard input ends.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// The packages live outside the checkout.
const packages = createRequire(join(process.env.TEST_NODE, '/'));
const { default: Provider } = await import(pathToFileURL(packages.resolve('oidc-provider')).href);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        client_id: 'attestry',
        client_secret: "the client's secret",
        redirect_uris: ['http://127.0.0.1/callback'],
        backchannel_logout_session_required: false,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@acme.example`,
        email_verified: true,
        name: id,
        groups: ['Compliance'],
      }),
    }),
    pkce: { required: () => true },
  });
  // The address of the connection is known only after the provider was asked.
  provider.Client.prototype.redirectUriAllowed = () => true;
  provider.Client.prototype.postLogoutRedirectUriAllowed = () => true;
  server.on('request', provider.callback());
  console.log(String(port));
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
