import { renderListener } from './jobs/render-progress.ts';
import type { Studio, StudioCallOptions } from './studio/types/studio.ts';

/** The same studio; what it renders for a job also moves the progress of that job. */
export function reportingStudio(studio: Studio): Studio {
  return {
    ...studio,
    image: (request, options) => studio.image(request, reporting(options)),
    video: (request, options) => studio.video(request, reporting(options)),
    speech: (request, options) => studio.speech(request, reporting(options)),
    presenter: (request, options) => studio.presenter(request, reporting(options)),
  };
}

function reporting(options: StudioCallOptions = {}): StudioCallOptions {
  const listener = renderListener();
  return {
    ...options,
    onProgress(percent, stage) {
      listener(percent);
      options.onProgress?.(percent, stage);
    },
  };
}
