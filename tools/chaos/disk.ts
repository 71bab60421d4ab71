import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A small disk of its own, which can be filled to its last byte, and be slow. */
export interface Disk {
  fill(): void;
  free(): void;
  /** Stands still for most of this time: whoever writes waits. */
  slow(ms: number): Promise<void>;
  unmount(): void;
}

const MEBIBYTES = 256;
/** How a slow disk spends each second: it takes nothing, then what has piled up. */
const STILL_S = 0.9;
const MOVING_S = 0.1;

/** Mounts one at this folder: a file with ext4, over a loop device. Null where that is not allowed (no root, no Linux). */
export function mountDisk(folder: string): Disk | null {
  mkdirSync(folder, { recursive: true });
  const image = `${folder}.ext4`;
  writeFileSync(image, '');
  truncateSync(image, MEBIBYTES * 1024 * 1024);
  const succeeds = (command: string, ...words: string[]) => spawnSync(command, words).status === 0;
  if (!succeeds('mkfs.ext4', '-q', '-m', '0', image) || !succeeds('mount', '-o', 'loop', image, folder)) {
    rmSync(image);
    return null;
  }
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
    async slow(ms) {
      // A shell of its own, so that the disk moves again also when this process ends meanwhile: nobody can be killed who waits for it.
      const script = `for n in $(seq ${Math.ceil(ms / 1000)}); do fsfreeze -f "$0"; sleep ${STILL_S}; fsfreeze -u "$0"; sleep ${MOVING_S}; done`;
      await once(spawn('sh', ['-c', script, folder], { detached: true, stdio: 'ignore' }), 'exit');
    },
    unmount() {
      spawnSync('umount', ['-l', folder]);
      rmSync(image, { force: true });
    },
  };
}
