import type { ModelsQuery } from '../../api/documents/operations.ts';
import { t } from '../../text/text.ts';

type Model = ModelsQuery['models'][number];

/** What a model takes, in one line. */
export function limitsOf({
  sizes,
  aspectRatios,
  durations,
  maxPrompt,
  maxCount,
  maxImages,
  formats,
}: Model): string {
  const limits = [
    sizes?.join(', '),
    aspectRatios?.join(' '),
    durations === null ? null : t('time.seconds', { seconds: durations.join(', ') }),
    formats?.join(', '),
    maxCount === null ? null : t('models.atOnce', { count: maxCount }),
    maxImages === null ? null : t('studio.references', { count: maxImages }),
    maxPrompt === null ? null : t('models.characters', { count: maxPrompt.toLocaleString() }),
  ];
  return limits.filter(Boolean).join(' · ');
}
