import { Readable } from 'node:stream';

import { toError } from '../../../../../platform/errors.ts';
import type { Logger } from '../../../../../platform/process/logger.ts';
import { type StageWords, withPreview } from '../../../domain/words/stages.ts';
import type { FileService } from '../../../files/files.ts';

/** Parts of pictures that upstreams send while they work, as files for an hour. */

/** What they are stored with. */
export interface PreviewDependencies {
  readonly files: Pick<FileService, 'store'>;
  readonly logger: Logger;
}

/** Largest part of a picture in bytes. */
const MAX_PREVIEW = 64 << 20;

/** Stores a part of a picture, and calls `write` with the stage that names it. Never rejects: the picture itself is still to come. */
export async function storePreview(
  { files, logger }: PreviewDependencies,
  { picture, owner, taskId }: { readonly picture: Buffer; readonly owner: string; readonly taskId: string },
  write: (previewed: (stage: StageWords) => StageWords) => Promise<void>,
): Promise<void> {
  try {
    const { id } = await files.store({
      owner,
      body: Readable.from([picture], { objectMode: false }),
      name: 'preview',
      declaredType: null,
      temporary: true,
      maxBytes: MAX_PREVIEW,
      listed: false,
    });
    await write((stage) => withPreview(stage, id));
  } catch (error) {
    logger.warn({ error: toError(error), task: taskId }, 'a part of a picture could not be shown');
  }
}
