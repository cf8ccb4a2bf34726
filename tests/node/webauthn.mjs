// Verifies a registration and a sign-in with a passkey, and prints the result.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

// The packages live outside the checkout.
const packages = createRequire(join(process.env.TEST_NODE, '/'));
const { verifyAuthenticationResponse, verifyRegistrationResponse } = await import(
  pathToFileURL(packages.resolve('@simplewebauthn/server')).href
);

const { origin, site, registration, signIn } = JSON.parse(await text(process.stdin));
const expected = { expectedOrigin: origin, expectedRPID: site, requireUserVerification: true };
const registered = await verifyRegistrationResponse({
  ...expected,
  response: registration.credential,
  expectedChallenge: registration.challenge,
});
const authenticated = await verifyAuthenticationResponse({
  ...expected,
  response: signIn.credential,
  expectedChallenge: signIn.challenge,
  credential: registered.registrationInfo.credential,
});
console.log(JSON.stringify({ registered: registered.verified, authenticated: authenticated.verified }));
