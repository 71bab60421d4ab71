import type { MediaPartsFragment } from '../api/operations.ts';
import type { StoredFile } from '../api/upload.ts';
import { type Draft, draftOf } from './drafts.ts';
import { current } from './ending.ts';
import { ACCEPTED, accepts } from './files.ts';
import { withOption } from './options/values.ts';
import { type Choice, choicesOf, membersOf, type Model, type Tab, type Values } from './work.ts';

/** A result as an input of the next work. */
export function storedFile({ id, url, contentType, bytes }: MediaPartsFragment): StoredFile {
  return { id, url, contentType, bytes };
}

/** The settings of a variant: the picture is the reference where the model takes one, and no seed repeats it. */
export function variantOf(choice: Choice, values: Values, media: MediaPartsFragment): Values {
  const { seed: _, options, ...others } = values;
  const rest = options === undefined ? others : { ...others, options: withOption(options, ['seed'], null) };
  const member = membersOf(choice).includes('images') ? 'images' : null;
  if (member === null || !media.contentType.startsWith('image/')) return rest;
  return { ...rest, [member]: [storedFile(media)] };
}

/**
 * The form that takes this result: the one that is shown when it can, else the first kind of work with a place for it.
 * What is filled in there stays.
 */
export function formWith(
  media: MediaPartsFragment,
  shown: Tab,
  models: readonly Model[],
): { readonly tab: Tab; readonly draft: Draft } | null {
  const tabs: readonly Tab[] = [shown, 'image', 'video', 'lipsync', 'avatar', 'analysis'];
  for (const tab of tabs) {
    const before = draftOf(tab);
    const choices = choicesOf(tab, current(models));
    const chosen = choices.find(({ key }) => key === before?.key);
    for (const choice of chosen === undefined ? choices : [chosen, ...choices]) {
      const member = placeFor(choice, media.contentType);
      if (member === undefined) continue;
      const file = storedFile(media);
      const values = { ...before?.values, [member]: member === 'images' ? [file] : file };
      return { tab, draft: { key: choice.key, values } };
    }
  }
  return null;
}

function placeFor(choice: Choice, contentType: string): string | undefined {
  return membersOf(choice).find((member) => accepts(ACCEPTED[member] ?? '', contentType));
}
