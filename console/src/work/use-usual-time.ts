import { useQuery } from '@apollo/client/react';

import { UsualSecondsDocument } from '../api/operations.ts';
import { useCaller } from '../api/use-caller.ts';
import { durationText } from '../parts/time.tsx';
import { t } from '../text/text.ts';
import type { Model } from './work.ts';

/** How long work of a model takes, as its provider did in the last hour; null where that is not known. */
export type UsualTime = (model: Model) => string | null;

/** The usual time of the models. The API tells it to administrators alone. */
export function useUsualTime(): UsualTime {
  const mayAsk = useCaller()?.mayAdministrate === true;
  const { data } = useQuery(UsualSecondsDocument, { skip: !mayAsk, fetchPolicy: 'cache-and-network' });
  const bindings = data?.providerHealth ?? [];
  return ({ generator, provider }) => {
    const own = bindings.filter((one) => one.generator === generator && one.provider === provider);
    // Of several bindings none tells which models it is for: pictures of one are no measure for videos of the other.
    const seconds = own.length === 1 ? own[0]?.p50 : null;
    return typeof seconds === 'number' ? t('model.usually', { time: durationText(seconds * 1_000) }) : null;
  };
}
