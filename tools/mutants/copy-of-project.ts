import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const project = path.resolve(import.meta.dirname, '../..');

/**
 * A copy of this checkout's tracked files, as they are now, with the same packages: what may be changed at will. It is removed when
 * this process ends.
 */
export function copyOfProject(prefix: string): { readonly root: string; readonly files: readonly string[] } {
  const root = mkdtempSync(path.join(tmpdir(), prefix));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const files = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' }).trim().split('\n');
  for (const file of files) cpSync(path.join(project, file), path.join(root, file));
  symlinkSync(path.join(project, 'node_modules'), path.join(root, 'node_modules'));
  return { root, files };
}
