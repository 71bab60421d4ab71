import { responseStyleOf, type ResponseStyle } from './replies/response-style.ts';
import { sections } from './tables.ts';

/** Which service answers for a path that no route has. */

/** Folders of the workflow service; everything else is the media service's. */
const styles: ReadonlyMap<string, ResponseStyle> = new Map(
  sections
    .filter(({ service }) => service === 'workflow')
    .flatMap((section) =>
      section.routes.map(({ path }) => [folderOf(path), responseStyleOf(section)] as const),
    ),
);

const mediaStyle = responseStyleOf({ service: 'media' });

/** The style that paths like this one have; `path` begins behind the prefix of PUBLIC_URL. */
export function responseStyleAt(path: string): ResponseStyle {
  return styles.get(folderOf(path)) ?? mediaStyle;
}

function folderOf(path: string): string {
  return path.split('/', 2)[1] ?? '';
}
