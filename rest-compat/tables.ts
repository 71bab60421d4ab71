import { type DocumentNode, type GraphQLSchema, validate } from 'graphql';

import { TaskById, TaskEvents } from './documents/media/task.ts';
import { aggImgaImage } from './media/agg-imga-image.ts';
import { aggImgaVideo, aggVidb, aggVidc } from './media/agg-videos.ts';
import { custom, union } from './media/chosen-model.ts';
import { comfy } from './media/comfy.ts';
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
import { vidb } from './media/vidb.ts';
import { findResponseStyle, type ResponseStyle } from './replies/response-style.ts';
import { listUploadDocuments } from './request/upload.ts';
import { createMatcher } from './route/match.ts';
import type { Section, Route } from './route/route.ts';
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

/** The response styles of paths that no route has. */

/** First path segments of the workflow service; all others are the media service's. */
const styles: ReadonlyMap<string, ResponseStyle> = new Map(
  sections
    .filter(({ service }) => service === 'workflow')
    .flatMap((section) =>
      section.routes.map(({ path }) => [firstSegment(path), findResponseStyle(section)] as const),
    ),
);

const mediaStyle = findResponseStyle({ service: 'media' });

/** The style of routes with the same first segment; `path` comes without the path of PUBLIC_URL. */
export function responseStyleAt(path: string): ResponseStyle {
  return styles.get(firstSegment(path)) ?? mediaStyle;
}

function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

const match = createMatcher(sections.flatMap(({ routes }) => routes));

/** Whether a request proves itself, so that its Authorization is not looked at; `path` comes without the path of PUBLIC_URL. */
export function isSelfAuthenticating(method: string, path: string): boolean {
  const matched = match(method, path);
  return matched !== null && 'route' in matched && matched.route.isSelfAuthenticating === true;
}

/**
 * Errors of the routes' documents against this schema; empty when there are none. A gateway in front of a foreign supergraph
 * serves the REST paths only then.
 */
export function validateRoutes(
  schema: GraphQLSchema,
  checked: readonly Section[] = sections,
): readonly string[] {
  const users = new Map<DocumentNode, Route>();
  for (const route of checked.flatMap(({ routes }) => routes)) {
    for (const document of listDocuments(route)) users.set(document, users.get(document) ?? route);
  }
  return [...users].flatMap(([document, { method, path }]) =>
    validate(schema, document).map((error) => `${method} ${path}: ${error.message}`),
  );
}

/** Every GraphQL document that a route may run. */
function listDocuments(route: Route): readonly DocumentNode[] {
  const params = Object.values(route.params);
  return [
    ...(route.document === null ? [] : [route.document]),
    ...(route.wait === undefined ? [] : [TaskEvents, TaskById]),
    ...(route.first === undefined ? [] : [route.first.document]),
    ...params.flatMap(({ destination }) =>
      destination === undefined ? [] : listUploadDocuments(destination),
    ),
  ];
}
