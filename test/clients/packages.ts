import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');

/** A folder of somebody who uses the packages, as their tarballs install. */
export interface UserFolder {
  readonly folder: string;
  /** What a tarball holds. */
  readonly files: readonly string[];
  remove(): Promise<void>;
}

/** What `npm pack --json` says of a package. */
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/**
 * Builds packages of clients/ (`typescript` first), packs them and installs the tarballs in a new folder, without the network.
 * Packages of others (`ai`, `react`) are those of this checkout.
 */
export async function installClients(
  names: readonly string[],
  others: readonly string[] = [],
): Promise<UserFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-user-'));
  const packed: Packed[] = [];
  for (const name of names) {
    const home = path.join(root, 'clients', name);
    await run('npm', ['run', 'build'], { cwd: home });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: home });
    packed.push(...Object.values(JSON.parse(stdout) as Readonly<Record<string, Packed>>));
  }
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'user', private: true, type: 'module' }),
  );
  const [first, ...rest] = packed.map(({ filename }) => path.join(folder, filename));
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', first ?? ''], { cwd: folder });
  // What needs packages of others can not be installed without the network: npm would ask for those.
  for (const [at, tarball] of rest.entries()) {
    const home = path.join(folder, 'node_modules/@kiln', names[at + 1] ?? '');
    await mkdir(home, { recursive: true });
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
  }
  for (const other of others) {
    const link = path.join(folder, 'node_modules', other);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(root, 'node_modules', other), link);
  }
  return {
    folder,
    files: packed.flatMap(({ files }) => files.map(({ path }) => path)),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
