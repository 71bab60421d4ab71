import type { ResponseSchemaName, Route } from '../route/route.ts';

/** Summaries of operations. Those of the media service follow from their response schema. */

const bySchema: Readonly<Partial<Record<ResponseSchemaName, string>>> = {
  Welcome: 'Returns the name and the version of the server.',
  Health: 'Returns the health of the service.',
  StoredFile: 'Stores a file permanently, and returns its address.',
  StoredResource: 'Sends a file to the provider, and returns its id for submissions.',
  CloudFile: "Sends a file to the provider's storage, and returns its address there.",
  Submission: 'Starts a task, and returns its id at once.',
  Text: 'Asks a language model, and returns the whole text.',
  AnalysisText: 'Has a language model analyse a file, and waits for its text.',
  Models: 'Lists the models and their limits.',
  Voices: 'Lists the cloned voices.',
  RunningNode: 'Returns the ComfyUI server with the most room.',
  PromptCheck: 'Checks whether a prompt is allowed.',
  PromptDefault: 'Returns the prompt of a video template as a sample.',
  TaskType: 'Checks whether the name of a video template is available.',
  DeletedTemplate: 'Deletes a video template.',
  PagedTemplates: 'Lists the video templates, page by page.',
  Cancellation: 'Cancels a task.',
  DescriptionTask: 'Describes a picture, and waits for the description.',
  VoiceTask: 'Clones a voice from a sample, and waits for it.',
};

/** The summary of a route; undefined when there is none. */
export function summaryOf({ summary, responseSchema, wait, method }: Route): string | undefined {
  if (summary !== undefined) return summary;
  if (responseSchema === 'Template')
    return method === 'PUT' ? 'Updates a video template.' : 'Creates a video template.';
  const known = responseSchema === undefined ? undefined : bySchema[responseSchema];
  if (known !== undefined || responseSchema?.endsWith('Task') !== true) return known;
  return wait === undefined
    ? 'Returns the state of a task, and its result.'
    : 'Starts a task, and waits for its result.';
}
