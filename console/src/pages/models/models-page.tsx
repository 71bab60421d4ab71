import { useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';

import { useCaller } from '../../api/caller.ts';
import { HealthDocument } from '../../api/documents/models.ts';
import type { ModelsQuery } from '../../api/documents/operations.ts';
import { useModels } from '../../api/shared-queries.ts';
import { Icon } from '../../parts/icons.tsx';
import { findLook, Input } from '../../parts/looks/inputs.tsx';
import { Figures, Row } from '../../parts/looks/lines.tsx';
import { Page, PageTop, Tag } from '../../parts/looks/panels.tsx';
import { useIncrementalCount } from '../../parts/page/later.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t, textOr } from '../../text/text.ts';
import { current } from '../../work/model-words.ts';
import { Providers } from './providers.tsx';

type Model = ModelsQuery['models'][number];

/** Every provider that can be asked now, with its models, and for administrators how it does and how to connect it. */
export function ModelsPage() {
  const { find = '' } = useSearch({ from: '/models' });
  const caller = useCaller();
  const navigate = useNavigate({ from: '/models' });
  const { data, error } = useModels();
  const words = useDeferredValue(find).toLowerCase();
  const found = useMemo(
    () => current(data?.models ?? []).filter((model) => searchText(model).includes(words)),
    [data, words],
  );
  const turns = useIncrementalCount(2, 1);
  const isAdministrator = caller?.mayAdministrate === true;
  return (
    <>
      <PageTop>
        <PageHeading>{t(isAdministrator ? 'providers.title' : 'page.models')}</PageHeading>
        <Figures tone="muted">{found.length}</Figures>
      </PageTop>
      <Page>
        <Row wrap>
          <div className={`${findLook} max-w-80`}>
            <Icon name="search" />
            <Input
              className="pl-8"
              type="search"
              aria-label={t('models.search')}
              placeholder={t('models.search')}
              value={find}
              onChange={({ target }) =>
                void navigate({ search: target.value === '' ? {} : { find: target.value }, replace: true })
              }
            />
          </div>
          {turns > 1 && <Health />}
        </Row>
        {error !== undefined && <Problem error={error} />}
        {data !== undefined && found.length === 0 && <Empty title={t('studio.noModel')} />}
        {caller !== undefined && data !== undefined && (
          <Providers models={found} isFinding={words !== ''} isAdministrator={isAdministrator} />
        )}
      </Page>
    </>
  );
}

function Health() {
  const { data } = useQuery(HealthDocument, { fetchPolicy: 'cache-and-network' });
  const health = data?.health;
  const checks = Object.entries((health?.checks ?? {}) as Record<string, unknown>);
  return (
    <Row as="p" wrap className="text-muted text-12 font-normal min-h-5">
      {health && <Tag>Kiln {health.version}</Tag>}
      {checks.map(([name, check]) => (
        <Tag key={name}>
          {textOr(`health.${name}`, name)}: {healthText(check)}
        </Tag>
      ))}
    </Row>
  );
}

function healthText(check: unknown): string {
  return typeof check === 'string' ? textOr(`health.${check}`, check) : JSON.stringify(check);
}

function searchText({ name, id, generator, provider, category }: Model): string {
  return `${name} ${id} ${generator} ${provider} ${category}`.toLowerCase();
}
