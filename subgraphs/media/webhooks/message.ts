import type { JsonObject } from '../../../platform/json.ts';
import type { Task } from '../domain/task.ts';
import type { FileService, StoredFile } from '../files/files.ts';

/**
 * The body of a webhook: the end of a task in JSON. The same at each attempt, but for addresses that expire, which are
 * renewed. `timestamp` is the moment of the end.
 */
export async function messageOf(task: Task, files: Pick<FileService, 'byIds' | 'urlOf'>): Promise<string> {
  const found = await files.byIds(task.result?.mediaIds ?? []);
  const outputs = found.flatMap((file) => (file === null ? [] : [outputOf(file, files)]));
  return JSON.stringify({
    type: `task.${task.state.toLowerCase()}`,
    timestamp: (task.endedAt ?? task.createdAt).toISOString(),
    data: {
      id: task.id,
      kind: task.kind,
      generator: task.generator,
      state: task.state,
      outputs,
      text: task.result?.texts[0] ?? null,
      error: errorOf(task),
    },
  });
}

function outputOf(file: StoredFile, files: Pick<FileService, 'urlOf'>): JsonObject {
  const { contentType, bytes, sha256, width, height, duration } = file;
  return { url: files.urlOf(file), contentType, bytes, sha256, width, height, duration };
}

function errorOf({ error }: Task): JsonObject | null {
  if (error === null) return null;
  const { code, message, retryable } = error;
  return { code, message, retryable };
}
