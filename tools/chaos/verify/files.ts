import { createHash } from 'node:crypto';

import { texts, type Finding, type Verified } from './verified.ts';

/** Fetches every file over a gateway; who succeeded has one. */
export async function verifyFiles(verified: Verified): Promise<Finding> {
  const files = await verified.rows<{ id: string; name: string; sha256: string }>(
    `select id::text, name, sha256 from media.media where state = 'STORED'`,
  );
  const wrong = [...(await texts(verified, WITHOUT_FILE))];
  for (const { id, name, sha256 } of files) {
    const answer = await fetch(`${verified.gatewayUrl}/files/${id}/${encodeURIComponent(name)}`);
    const digest = createHash('sha256')
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest('hex');
    if (digest !== sha256) wrong.push(`${id}: ${answer.status}`);
  }
  return { what: 'files have their sha256', count: files.length, wrong };
}

const WITHOUT_FILE = `select task.id::text || ' has no file' as text from media.tasks task
  where task.state = 'SUCCEEDED' and not exists (
    select from media.media file where file.task_id = task.id and file.state = 'STORED')`;
