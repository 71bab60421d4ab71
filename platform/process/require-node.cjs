// Preloaded before any .ts file (package.json scripts): Kiln's sources run without a build step, which needs Node 24.
// On Linux (x64, arm64) `npm ci` puts a Node 24 into node_modules/.bin; elsewhere the host's own must be new enough.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `Kiln runs on Node 24 or newer; this is ${process.version}. ` +
      'Run it through npm (npm start) after `npm ci` without --omit=optional, or install Node 24.\n',
  );
  process.exit(1);
}

// Compiled code is kept for the next start, which takes half as long with it. Where it can't be written nothing is lost;
// NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE=1 turns it off.
require('node:module').enableCompileCache(
  require('node:path').resolve(__dirname, '../../node_modules/.cache/compiled'),
);
