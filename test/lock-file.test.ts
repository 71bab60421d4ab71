import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';

interface LockedPackage {
  readonly link?: true;
  readonly integrity?: string;
  readonly optional?: true;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** Whether a package is for the platforms that `npm ci` brings Node for: Linux with glibc on x64 or arm64. */
function isForOurPlatforms({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockedPackage): boolean {
  const isCpu = cpu.includes('x64') || cpu.includes('arm64');
  return os.includes('linux') && isCpu && libc.includes('glibc');
}

it('the lock file holds the hash of every package, but for binaries of other platforms', async () => {
  const text = await readFile(new URL('../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => /(^|\/)node_modules\//.test(path) && !link,
  );
  expect(installed.length).toBeGreaterThan(500);
  const withoutHash = installed.filter(([, { integrity = '' }]) => !/^sha(512|384|256)-/.test(integrity));
  const unexpected = withoutHash.filter(([, found]) => found.optional !== true || isForOurPlatforms(found));
  expect(unexpected.map(([path]) => path)).toEqual([]);
});
