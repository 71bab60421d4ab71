import { useMutation, useQuery } from '@apollo/client/react';

import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import {
  CatalogStateDocument,
  GeneratorSettingsDocument,
  SyncTemplatesDocument,
  UnrunnableDocument,
} from '../../../api/documents/shop.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ServerWords } from '../../../parts/server-words.tsx';
import { SettingNames } from '../../../parts/setting-names.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { priceText } from '../order/template.ts';
import { SaleState } from './catalog-row.tsx';

/** Whether a template can be run, and why not; how it stands at the payment provider, and what to do about it. */
export function TemplateState({ template }: { readonly template: CatalogPartsFragment }) {
  const { code, salePrice, ppProductId, lastPpSyncAt } = template;
  const unrunnable = useQuery(UnrunnableDocument, { fetchPolicy: 'cache-and-network' });
  const found = unrunnable.data?.unrunnableTemplates.find((one) => one.template.code === code);
  return (
    <section className="card">
      <header>
        <h2>{t('task.state')}</h2>
      </header>
      <div className="pad gap-3 flex flex-col min-w-0">
        <p className="flex items-center gap-2 min-w-0">
          <SaleState template={template} reason={null} />
          <span className="text-right whitespace-nowrap font-semibold ml-auto tabular-nums">
            {priceText(template)}
          </span>
        </p>
        {found !== undefined && (
          <div className="note warn">
            <div className="flex flex-col gap-2 min-w-0">
              <p>{t('shop.cannotRun')}</p>
              <p className="text-12 font-normal">
                <ServerWords text={found.reason} />
              </p>
              {found.generator !== null && <Setting generator={found.generator} />}
            </div>
          </div>
        )}
        {salePrice === null ? (
          <p className="text-muted">{t('shop.noProviderText')}</p>
        ) : (
          <>
            <dl className="kv">
              <dt>{t('shop.product')}</dt>
              <dd className="font-mono [font-size:12px]">{ppProductId ?? '–'}</dd>
              <dt>{t('shop.syncedAt')}</dt>
              <dd>{lastPpSyncAt === null ? t('keys.never') : <Ago at={lastPpSyncAt} />}</dd>
            </dl>
            <AtProvider code={code} />
          </>
        )}
      </div>
    </section>
  );
}

/** The setting whose absence keeps a template from running. */
function Setting({ generator }: { readonly generator: string }) {
  const { data } = useQuery(GeneratorSettingsDocument);
  const setting = data?.health.generators.find((one) => one.generator === generator)?.setting ?? null;
  if (setting === null) return <p className="text-12 font-normal">{t('providers.administrators')}</p>;
  return (
    <p className="flex items-center gap-2 min-w-0 flex-wrap">
      {t('shop.setIt')} <SettingNames text={setting} />
    </p>
  );
}

/** What is found there, looked at now, with a way to bring it over again. */
function AtProvider({ code }: { readonly code: string }) {
  const { data, error } = useQuery(CatalogStateDocument, {
    variables: { code },
    fetchPolicy: 'cache-and-network',
  });
  const [sync, synced] = useMutation(SyncTemplatesDocument, { refetchQueries: [CatalogStateDocument] });
  const [state] = data?.catalogState ?? [];
  const problem = error ?? synced.error;
  return (
    <div className="flex flex-col gap-2 min-w-0">
      {problem !== undefined && <Problem error={problem} />}
      {state !== undefined && <p role="status">{t(state.synced ? 'shop.synced' : 'shop.notSynced')}</p>}
      {[...(state?.issues ?? []), ...(state?.recommendations ?? [])].map((text) => (
        <p key={text} className="text-muted text-12 font-normal">
          <ServerWords text={text} />
        </p>
      ))}
      <button
        type="button"
        className="btn sm self-start"
        disabled={synced.loading}
        onClick={() => void sync({ variables: { codes: [code] } }).catch(() => undefined)}
      >
        {t('shop.operation.SYNC')}
      </button>
    </div>
  );
}
