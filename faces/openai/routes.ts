import { audioRoutes } from './audio/routes.ts';
import { transcriptionRoutes } from './audio/transcriptions.ts';
import { batchRoutes } from './batches/routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { fileRoutes } from './files/routes.ts';
import { imageRoutes } from './images/routes.ts';
import { modelRoutes } from './models/routes.ts';
import type { FaceRoute } from './table/route.ts';
import { videoRoutes } from './videos/routes.ts';

/** Every operation of OpenAI's API that is there. */
export const faceRoutes: readonly FaceRoute[] = [
  ...modelRoutes,
  ...imageRoutes,
  ...videoRoutes,
  ...audioRoutes,
  ...transcriptionRoutes,
  ...chatRoutes,
  ...fileRoutes,
  ...batchRoutes,
];
