import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Whether a process answers at /readyz of an origin. */
export async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/readyz`)).ok;
  } catch {
    // Nobody listens yet; the caller asks again.
    return false;
  }
}

/** A folder that the test removes. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-topology-'));
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
