import type { NoteCode, NoteInfo } from '../domain/words/notes.ts';
import { builder } from './builder.ts';

const TaskNoteCode = builder.enumType('TaskNoteCode', {
  description: 'What is missing in a result or met only approximately. Later versions may add codes.',
  values: {
    SHAPE_OF_PICTURE: { description: '`aspectRatio` was not used: the video has the shape of its picture.' },
    SHAPE_OF_SIZE: { description: '`aspectRatio` was not used: `size` decides.' },
    NEAREST_SHAPE: {
      description: '`aspectRatio` was met by `usedAspectRatio`, the nearest that the model makes.',
    },
    VIDEO_MISSING: { description: 'The video is missing: no generator for videos is configured.' },
    OTHER: {
      description: 'Words without a code, as a newer or older version has written them; `text` has them.',
    },
  } satisfies Record<NoteCode, { description: string }>,
});

/** A note as a code with its values. */
export const TaskNote = builder.objectRef<NoteInfo>('TaskNote').implement({
  description: 'What is missing in a result or met only approximately, as a code with its values.',
  fields: (t) => ({
    code: t.expose('code', { type: TaskNoteCode, description: 'What is missing or approximate.' }),
    text: t.exposeString('text', {
      description: 'The same as an English sentence, for codes that a client does not know.',
    }),
    aspectRatio: t.exposeString('aspectRatio', {
      nullable: true,
      description: 'The aspect ratio that was requested, in notes about it.',
    }),
    size: t.exposeString('size', {
      nullable: true,
      description: 'The size that decides, for SHAPE_OF_SIZE.',
    }),
    usedAspectRatio: t.exposeString('usedAspectRatio', {
      nullable: true,
      description: 'The aspect ratio that was used, for NEAREST_SHAPE.',
    }),
  }),
});
