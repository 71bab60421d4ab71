import { findingTools } from './find.ts';
import { imageTools } from './images.ts';
import { otherWorkTools } from './other-work.ts';
import { libraryTools, taskTools } from './tasks-and-files.ts';
import type { Tool } from './tool.ts';
import { videoTools } from './videos.ts';

/** Every tool, in the order of its listing. */
export const tools: readonly Tool[] = [
  ...imageTools,
  ...videoTools,
  ...otherWorkTools,
  ...findingTools,
  ...taskTools,
  ...libraryTools,
];

const byName = new Map(tools.map((tool) => [tool.name, tool]));

/** A tool by its name. */
export function toolNamed(name: unknown): Tool | undefined {
  return typeof name === 'string' ? byName.get(name) : undefined;
}
