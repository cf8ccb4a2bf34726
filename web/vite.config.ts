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

/** Mantine's classes in the scripts must have their rules in the styles: `look/parts.css` names each part that is used. */
function allStyled(): Plugin {
  const classes = (text: string) => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));
  return {
    name: 'all-styled',
    apply: 'build',
    generateBundle(_, bundle) {
      const all = Object.values(bundle);
      const scripts = all.map((one) => (one.type === 'chunk' ? one.code : '')).join('');
      const styles = all.map((one) => (one.type === 'asset' && one.fileName.endsWith('.css') ? String(one.source) : '')).join('');
      const folder = 'node_modules/@mantine/core/styles';
      const styled = classes(styles);
      const missing = new Set([...classes(scripts)].filter((one) => !styled.has(one)));
      for (const name of readdirSync(folder).filter((name) => !name.includes('.layer.')))
        if ([...classes(readFileSync(join(folder, name), 'utf8'))].some((one) => missing.has(one)))
          this.error(`look/parts.css lacks @mantine/core/styles/${name}`);
    },
  };
}

/** The most that the scripts of the home page may have, packed, in bytes. */
const HOME_BYTES = 240_000;

/** Fails a build whose home page loads more scripts than it may, in any language. */
function homeIsSmall(): Plugin {
  return {
    name: 'home-is-small',
    apply: 'build',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? [one] : []));
      const named = (end: string) => chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(end));
      for (const language of readdirSync('texts', { withFileTypes: true }).filter((one) => one.isDirectory())) {
        const found = new Set<string>();
        const bytes = (name: string): number => {
          const chunk = bundle[name];
          if (found.has(name) || chunk?.type !== 'chunk') return 0;
          found.add(name);
          return gzipSync(chunk.code, { level: 9 }).length + chunk.imports.reduce((sum, one) => sum + bytes(one), 0);
        };
        const entries = ['/index.html', '/Console.tsx', '/home/Home.tsx', `/texts/${language.name}/first.ts`].map((end) => {
          const chunk = named(end);
          return chunk ? bytes(chunk.fileName) : this.error(`there is no script of ${end}`);
        });
        const sum = entries.reduce((sum, one) => sum + one, 0);
        if (sum > HOME_BYTES)
          this.error(`the scripts of the home page (${language.name}) have ${sum} bytes, packed; ${HOME_BYTES} are allowed`);
        this.info(`the scripts of the home page (${language.name}) have ${sum} bytes, packed, of ${HOME_BYTES}`);
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
  plugins: [react(), visitorTokens(), allStyled(), homeIsSmall(), packed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { console: 'index.html', portal: 'portal/main.ts' },
      output: {
        entryFileNames: ({ name }) => (isPortal(name) ? 'assets/portal.js' : 'assets/[name]-[hash].js'),
        // What most pages use comes in one file: dozens of small ones take longer than the bytes that a page could do without.
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 6 }] },
        assetFileNames: ({ names }) => (names.some(isPortal) ? 'assets/portal.css' : 'assets/[name]-[hash][extname]'),
      },
    },
  },
  server: { proxy: { '/v1': server, '/docs': server, '/assets/portal': server } },
});
