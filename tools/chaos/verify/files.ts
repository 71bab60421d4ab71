import { createHash } from 'node:crypto';

import { texts, type Finding, type Verified } from './verified.ts';

/** Fetches every file over a gateway; who succeeded has one. */
export async function verifyFiles(verified: Verified): Promise<Finding> {
  const files = await verified.rows<{ id: string; name: string; sha256: string }>(
    `select id::text, name, sha256 from media.media where state = 'STORED'`,
  );
  const wrong = [...(await texts(verified, WITHOUT_FILE))];
  for (const { id, name, sha256 } of files) {
    const { status, digest } = await fetchFile(
      `${verified.gatewayUrl}/files/${id}/${encodeURIComponent(name)}`,
    );
    if (digest !== sha256) wrong.push(`${id}: ${status}`);
  }
  return { what: 'files have their sha256', count: files.length, wrong };
}

/** Milliseconds for a file: Node's fetch was seen to leave a request unsent on a connection that had idled, which then waits for ever. */
const FILE_MS = 30_000;

async function fetchFile(url: string, mayRepeat = true): Promise<{ status: number; digest: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FILE_MS) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, digest: createHash('sha256').update(bytes).digest('hex') };
  } catch (thrown) {
    if (!mayRepeat) throw thrown;
    return fetchFile(url, false);
  }
}

const WITHOUT_FILE = `select task.id::text || ' has no file' as text from media.tasks task
  where task.state = 'SUCCEEDED' and not exists (
    select from media.media file where file.task_id = task.id and file.state = 'STORED')`;
