// An S3 server with one bucket in a folder that vanishes with it.
// Prints its port; stops when its standard input ends.
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { createRequire } = require("node:module");

// The packages live outside the checkout.
const S3rver = createRequire(path.join(process.env.TEST_NODE, "/"))("s3rver");
const directory = fs.mkdtempSync(path.join(os.tmpdir(), "attestry-s3."));
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: "attestry" }],
});
server.run().then(({ port }) => console.log(port));
process.stdin.resume();
process.stdin.on("end", () => {
  fs.rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
