import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  // Relative: the gateway puts the path prefix of PUBLIC_URL into the page's <base>.
  base: './',
  plugins: [react(), tailwindcss()],
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.mjs' }] },
  build: {
    target: 'es2023',
    // Fonts and pictures would be data URLs otherwise, which the gateway's policy forbids for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/graphql': { target: 'http://127.0.0.1:4000', ws: true },
      '/files': 'http://127.0.0.1:4000',
      '/auth': 'http://127.0.0.1:4000',
    },
  },
});
