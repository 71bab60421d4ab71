import { useMutation, useQuery } from '@apollo/client/react';

import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import {
  CatalogStateDocument,
  GeneratorSettingsDocument,
  SyncTemplatesDocument,
  UnrunnableDocument,
} from '../../../api/documents/shop.ts';
import { priceText } from '../../../library/order.ts';
import { FactName, FactList, FactValue, SettingNames } from '../../../parts/facts.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures, Row, Small } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Note } from '../../../parts/looks/panels.tsx';
import { Problem, ServerWords } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { SaleState } from './catalog-row.tsx';

/** Whether a template can be run, and why not; how it stands at the payment provider, and what to do about it. */
export function TemplateState({ template }: { readonly template: CatalogPartsFragment }) {
  const { code, salePrice, ppProductId, lastPpSyncAt } = template;
  const unrunnable = useQuery(UnrunnableDocument, { fetchPolicy: 'cache-and-network' });
  const found = unrunnable.data?.unrunnableTemplates.find((one) => one.template.code === code);
  return (
    <Card>
      <CardHead title={t('task.state')} />
      <div className="p-4 gap-3 flex flex-col min-w-0">
        <Row as="p">
          <SaleState template={template} reason={null} />
          <Figures className="font-semibold ml-auto">{priceText(template)}</Figures>
        </Row>
        {found !== undefined && (
          <Note tone="warn">
            <div className="flex flex-col gap-2 min-w-0">
              <p>{t('shop.cannotRun')}</p>
              <p className="text-12 font-normal">
                <ServerWords text={found.reason} />
              </p>
              {found.generator !== null && <Setting generator={found.generator} />}
            </div>
          </Note>
        )}
        {salePrice === null ? (
          <p className="text-muted">{t('shop.noProviderText')}</p>
        ) : (
          <>
            <FactList>
              <FactName>{t('shop.product')}</FactName>
              <FactValue className="font-mono [font-size:12px]">{ppProductId ?? '–'}</FactValue>
              <FactName>{t('shop.syncedAt')}</FactName>
              <FactValue>{lastPpSyncAt === null ? t('keys.never') : <Ago at={lastPpSyncAt} />}</FactValue>
            </FactList>
            <AtProvider code={code} />
          </>
        )}
      </div>
    </Card>
  );
}

/** The setting whose absence keeps a template from running. */
function Setting({ generator }: { readonly generator: string }) {
  const { data } = useQuery(GeneratorSettingsDocument);
  const setting = data?.health.generators.find((one) => one.generator === generator)?.setting ?? null;
  if (setting === null) return <p className="text-12 font-normal">{t('providers.administrators')}</p>;
  return (
    <Row as="p" wrap>
      {t('shop.setIt')} <SettingNames text={setting} />
    </Row>
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
        <Small key={text} as="p">
          <ServerWords text={text} />
        </Small>
      ))}
      <Button
        size="small"
        className="self-start"
        disabled={synced.loading}
        onClick={() => void sync({ variables: { codes: [code] } }).catch(() => undefined)}
      >
        {t('shop.operation.SYNC')}
      </Button>
    </div>
  );
}
