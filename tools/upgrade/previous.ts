import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** The newest release before this checkout, by its tag (v1.2.3); null where no tag is known, as in a shallow clone. */
export function previousRelease(): string | null {
  const tag = run('git', ['describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0', 'HEAD^']);
  return tag.status === 0 ? tag.stdout.trim() : null;
}

/**
 * Puts the files of a revision into a folder. It gets this checkout's modules when its lock file is the same, else its
 * own by `npm ci`.
 */
export function checkOut(revision: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = path.join(folder, 'files.tar');
  must(run('git', ['archive', '--format=tar', `--output=${archive}`, revision]));
  must(run('tar', ['-xf', archive, '-C', folder]));
  const readLock = (where: string) => readFileSync(path.join(where, 'package-lock.json'), 'utf8');
  if (readLock(folder) === readLock(root)) {
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    return;
  }
  must(run('npm', ['ci', '--no-audit', '--no-fund', '--omit=dev'], folder));
}

function run(command: string, words: readonly string[], cwd = root) {
  return spawnSync(command, words, { cwd, encoding: 'utf8' });
}

function must({ status, stderr, error }: ReturnType<typeof run>): void {
  // A program that is not there, or says too much, has an error in place of words.
  if (status !== 0) throw new Error(stderr || 'a program of the upgrade failed', { cause: error });
}
