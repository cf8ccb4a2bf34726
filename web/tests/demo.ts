import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const BINARY = process.env.TEST_BINARY ?? join(process.env.HOME ?? '', '.cache/attestry/target/debug/attestry');
export const PASSWORD = 'correct horse battery staple';

/** Makes the sample organization once; every worker gets a copy. */
export default function demo() {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-demo-'));
  execFileSync(BINARY, ['demo', '--data-dir', folder, '--password', PASSWORD], { stdio: 'pipe', timeout: 300_000 });
  process.env.TEST_DEMO_DIR = folder;
}
