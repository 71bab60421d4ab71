import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A small disk in memory, which can be filled to its last byte. */
export interface Disk {
  fill(): void;
  free(): void;
  unmount(): void;
}

const MEBIBYTES = 256;

/** Mounts one at this folder; null where that is not allowed (no root, no Linux). */
export function mountDisk(folder: string): Disk | null {
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${MEBIBYTES}m`, 'tmpfs', folder]);
  if (status !== 0) return null;
  const filler = path.join(folder, 'filler');
  return {
    fill() {
      const chunk = Buffer.alloc(64 * 1024);
      try {
        for (let at = 0; at < MEBIBYTES * 16; at += 1) writeFileSync(filler, chunk, { flag: 'a' });
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
      }
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => void spawnSync('umount', ['-l', folder]),
  };
}
