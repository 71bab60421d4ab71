import { imageRoutes } from './images/routes.ts';
import type { FaceRoute } from './route.ts';

/** Every operation of OpenAI's API that is there. */
export const faceRoutes: readonly FaceRoute[] = [...imageRoutes];
