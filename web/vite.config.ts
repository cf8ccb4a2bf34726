import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The binary carries what is written here. */
const OUT = '../crates/ui/dist';
const PACKED = /\.(js|css|html|svg|json)$/;

/** Packs each text beside itself, so that the server never does. */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    closeBundle() {
      if (!existsSync(OUT)) return;
      writeFileSync(join(OUT, '.gitkeep'), '');
      for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !PACKED.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const text = readFileSync(path);
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${path}.br`, brotliCompressSync(text, { params: quality }));
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
      }
    },
  };
}

/** Visitors of a portal have no switch: there the dark tokens follow the browser. */
function visitorTokens(): Plugin {
  return {
    name: 'visitor-tokens',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('tokens.css?portal')) return;
      return code.replace(/\[data-mantine-color-scheme="dark"\] (\{[^}]*\})/, '@media (prefers-color-scheme: dark) { :root $1 }');
    },
  };
}

/** The server names the files of the portal's entry in its pages, so they have no fingerprint in their names. */
const isPortal = (name: string | undefined) => name?.replace(/\.css$/, '') === 'portal';

const server = process.env.ATTESTRY_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react(), visitorTokens(), packed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { console: 'index.html', portal: 'portal/main.ts' },
      output: {
        entryFileNames: ({ name }) => (isPortal(name) ? 'assets/portal.js' : 'assets/[name]-[hash].js'),
        assetFileNames: ({ names }) => (names.some(isPortal) ? 'assets/portal.css' : 'assets/[name]-[hash][extname]'),
      },
    },
  },
  server: { proxy: { '/v1': server, '/docs': server } },
});
