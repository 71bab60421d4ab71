import { aggImgaImage } from './media/agg-imga-image.ts';
import { aggImgaVideo } from './media/agg-imga-video.ts';
import { aggVidb } from './media/agg-vidb.ts';
import { aggVidc } from './media/agg-vidc.ts';
import { comfy } from './media/comfy.ts';
import { custom } from './media/custom.ts';
import { digital } from './media/digital.ts';
import { extend } from './media/extend.ts';
import { files } from './media/files.ts';
import { humanVideo } from './media/humanvid.ts';
import { imgaImage } from './media/imga-image.ts';
import { imgaVideo } from './media/imga-video.ts';
import { lipSync, lipSyncOld } from './media/lipsync.ts';
import { llm } from './media/llm.ts';
import { prompt } from './media/prompt.ts';
import { speech } from './media/speech.ts';
import { tasks } from './media/tasks.ts';
import { templates } from './media/templates.ts';
import { union } from './media/union.ts';
import { vidb } from './media/vidb.ts';
import type { Section } from './route/route.ts';
import { signIn } from './workflow/auth.ts';
import { payments } from './workflow/payment.ts';
import { tasks as workflowTasks } from './workflow/task.ts';
import { templates as workflowTemplates } from './workflow/templates.ts';
import { usage } from './workflow/usage.ts';

/** Every section, in the order of the documents. A new table is added here. */
export const sections: readonly Section[] = [
  files,
  templates,
  tasks,
  vidb,
  aggImgaImage,
  aggVidb,
  aggImgaVideo,
  aggVidc,
  lipSync,
  lipSyncOld,
  speech,
  comfy,
  union,
  custom,
  extend,
  humanVideo,
  digital,
  llm,
  prompt,
  imgaVideo,
  imgaImage,
  signIn,
  payments,
  workflowTasks,
  workflowTemplates,
  usage,
];
