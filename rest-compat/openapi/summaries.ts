import type { ResponseSchemaName, Route } from '../route/route.ts';

/** What operations do, in a sentence. Those of the media service say it by what they answer. */

const bySchema: Readonly<Partial<Record<ResponseSchemaName, string>>> = {
  Welcome: 'Tells what runs here.',
  Health: 'Tells whether the service works.',
  StoredFile: 'Stores a file for good, and answers its address.',
  StoredResource: 'Hands a file to the provider, and answers the id that submissions take.',
  CloudFile: "Hands a file to the provider's storage, and answers its address there.",
  Submission: 'Submits the work, and answers the id of its task at once.',
  Text: 'Asks a language model, and answers with the whole text.',
  AnalysisText: 'Has a language model look at a file, and waits for what it says.',
  Models: 'Lists the models, with what each of them takes.',
  Voices: 'Lists the cloned voices.',
  RunningNode: 'Names the ComfyUI server with the most room.',
  PromptCheck: 'Tells whether something speaks against a prompt.',
  PromptDefault: 'Gives the prompt of a video template as a sample.',
  TaskType: 'Tells whether a name for a video template is free.',
  DeletedTemplate: 'Deletes a video template.',
  PagedTemplates: 'Lists the video templates, page by page.',
  Cancellation: 'Cancels a task.',
  DescriptionTask: 'Puts a picture into words, and waits for them.',
  VoiceTask: 'Clones a voice from a sample, and waits for it.',
};

/** The sentence; undefined when there is none. */
export function summaryOf({ summary, responseSchema, wait, method }: Route): string | undefined {
  if (summary !== undefined) return summary;
  if (responseSchema === 'Template')
    return method === 'PUT' ? 'Changes a video template.' : 'Makes a video template.';
  const known = responseSchema === undefined ? undefined : bySchema[responseSchema];
  if (known !== undefined || responseSchema?.endsWith('Task') !== true) return known;
  return wait === undefined
    ? 'Tells where a task stands, and what it has made.'
    : 'Does the work, and waits for its result.';
}
