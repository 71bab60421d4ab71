import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version: string;
  readonly link?: true;
  readonly integrity?: string;
  readonly optional?: true;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/**
 * The only packages without a hash: binaries for platforms that Kiln is neither tested nor published on. npm writes a hash from
 * what the registry answers, and the registry in use answers 404 for them; it takes them nowhere but on their own platform.
 * Whoever locks with a registry that has them takes them from this list (the test says which). Leaving the entries out would
 * let every entry have a hash, but npm ci would then install no binary at all there, and nothing would start.
 */
const WITHOUT_HASH: Readonly<Record<string, string>> = {
  '@napi-rs/canvas-* 1.1.1':
    'android-arm64 darwin-arm64 darwin-x64 linux-arm-gnueabihf linux-arm64-musl linux-riscv64-gnu linux-x64-musl win32-arm64-msvc win32-x64-msvc',
  '@oxc-parser/binding-* 0.156.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxfmt/binding-* 0.78.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  '@oxlint-tsgolint/* 7.0.2007': 'darwin-arm64 darwin-x64 win32-arm64 win32-x64',
  '@oxlint/binding-* 1.94.0':
    'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-arm64-musl linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu linux-x64-musl openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
};
const withoutHash = Object.entries(WITHOUT_HASH).flatMap(([family, platforms]) => {
  const [name = '', version] = family.split('* ');
  return platforms.split(' ').map((platform) => `${name}${platform}@${version}`);
});

/** Whether a package is for the platforms that `npm ci` brings Node for: Linux with glibc on x64 or arm64. */
function isForOurPlatforms({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockedPackage): boolean {
  const isCpu = cpu.includes('x64') || cpu.includes('arm64');
  return os.includes('linux') && isCpu && libc.includes('glibc');
}

/** What a lock file lets npm install without comparing it with a hash. */
function unhashedIn(text: string) {
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => /(^|\/)node_modules\//.test(path) && !link,
  );
  const unhashed = installed.filter(([, { integrity = '' }]) => !/^sha(512|384|256)-/.test(integrity));
  const readName = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return {
    installed: installed.length,
    names: unhashed.map(([path, { version }]) => `${readName(path)}@${version}`),
    needed: unhashed.filter(([, found]) => found.optional !== true || isForOurPlatforms(found)),
  };
}

it('the lock file holds the hash of every package, but for those that are named here', async () => {
  const text = await readFile(new URL('../package-lock.json', import.meta.url), 'utf8');
  const { installed, names, needed } = unhashedIn(text);
  expect(installed).toBeGreaterThan(500);
  expect(names.toSorted()).toEqual(withoutHash.toSorted());
  expect(needed).toEqual([]);
  // One that lost a hash is noticed.
  const lost = text.replace(/"integrity": "sha512-[^"]*",?/, '"license": "none",');
  expect(unhashedIn(lost.replace(/,(\s*\})/g, '$1')).names).toHaveLength(withoutHash.length + 1);
});
