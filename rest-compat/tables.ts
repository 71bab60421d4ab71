import { aggImgaImage } from './media/agg-imga-image.ts';
import { files } from './media/files.ts';
import { prompt } from './media/prompt.ts';
import { tasks } from './media/tasks.ts';
import { templates } from './media/templates.ts';
import type { Section } from './route.ts';

/** Every section there is, in the order of the documents. A new table is listed here and nowhere else. */
export const sections: readonly Section[] = [files, templates, tasks, aggImgaImage, prompt];
