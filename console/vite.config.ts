import tailwindcss from '@tailwindcss/vite';
import { defaultClientConditions, defineConfig } from 'vite';

import { preact } from './aliases.ts';

/** Pixels of the root's font in the design; hairlines below two pixels stay pixels. */
const ROOT_PX = 16;

function toRem(value: string): string {
  // Not the end of 3.40282e38px, which is how the build writes what is fully round.
  return value.replaceAll(/(?<![\w.])(-?\d*\.?\d+)px\b/g, (pixels, count: string) =>
    Math.abs(Number(count)) < 2 ? pixels : `${Number(count) / ROOT_PX}rem`,
  );
}

export default defineConfig({
  // Relative: the gateway puts the path prefix of PUBLIC_URL into the page's <base>.
  base: './',
  plugins: [tailwindcss()],
  resolve: {
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.mjs' }, ...preact],
    // @kiln/client is its sources here.
    conditions: ['kiln-source', ...defaultClientConditions],
  },
  css: {
    postcss: {
      plugins: [
        {
          // So that everything follows the reader's font size, and grows in very wide windows.
          postcssPlugin: 'pixels-to-rem',
          Declaration(declaration) {
            declaration.value = toRem(declaration.value);
          },
        },
      ],
    },
  },
  build: {
    target: 'es2023',
    // Fonts and images would be data URLs otherwise, which the gateway's policy forbids for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The libraries of every page are one file on purpose.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // The libraries' words for servers that render React.
      checks: { moduleLevelDirective: false },
      output: {
        // What every page needs comes in two files: dozens of small ones take longer, and compress worse.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /[\\/]node_modules[\\/]/, tags: ['$initial'], priority: 2 },
            { name: 'console', tags: ['$initial'], priority: 1 },
            // And so for what several pages show: small, and needed by each of them at once.
            { name: 'shared', test: /console[\\/]src[\\/](api|library|parts|work)[\\/]/, minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/graphql': { target: 'http://127.0.0.1:4000', ws: true },
      '/files': 'http://127.0.0.1:4000',
      '/auth': 'http://127.0.0.1:4000',
    },
  },
});
