import type { Logger } from '../../platform/logger.ts';
import { createInstantStudio } from './instant-studio.ts';
import type { Studio } from './types.ts';

export interface StudioOptions {
  readonly workers?: number;
  readonly size?: 'normal' | 'small';
  readonly logger: Logger;
}

export function createStudio(_options: StudioOptions): Studio {
  return createInstantStudio();
}
