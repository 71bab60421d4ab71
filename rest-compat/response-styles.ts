import { responseStyleOf, type ResponseStyle } from './replies/response-style.ts';
import { sections } from './tables.ts';

/** The response styles of paths that no route has. */

/** First path segments of the workflow service; all others are the media service's. */
const styles: ReadonlyMap<string, ResponseStyle> = new Map(
  sections
    .filter(({ service }) => service === 'workflow')
    .flatMap((section) =>
      section.routes.map(({ path }) => [firstSegment(path), responseStyleOf(section)] as const),
    ),
);

const mediaStyle = responseStyleOf({ service: 'media' });

/** The style of routes with the same first segment; `path` comes without the path of PUBLIC_URL. */
export function responseStyleAt(path: string): ResponseStyle {
  return styles.get(firstSegment(path)) ?? mediaStyle;
}

function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? '';
}
