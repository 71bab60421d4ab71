import { useQuery } from '@apollo/client/react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue } from 'react';

import { HealthDocument, ModelsDocument, type ModelsQuery } from '../../api/operations.ts';
import { useCaller } from '../../api/use-caller.ts';
import { Icon } from '../../parts/icons.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { SandboxTag } from '../../parts/sandbox-tag.tsx';
import { t, textOr } from '../../text/text.ts';
import { current } from '../../work/ending.ts';
import { priceText } from '../../work/model-words.ts';
import { type UsualTime, useUsualTime } from '../../work/use-usual-time.ts';
import { tabOf } from '../../work/work.ts';
import { Providers } from './providers.tsx';

type Model = ModelsQuery['models'][number];

/** Every model that can be asked now, by provider, with its limits and whether it is real or the sandbox. */
export function ModelsPage() {
  const { find = '' } = useSearch({ from: '/models' });
  const caller = useCaller();
  const navigate = useNavigate({ from: '/models' });
  const { data, error } = useQuery(ModelsDocument);
  const usualTime = useUsualTime();
  const words = useDeferredValue(find).toLowerCase();
  const found = current(data?.models ?? []).filter((model) => searchText(model).includes(words));
  const providers = Map.groupBy(found, ({ provider }) => provider);
  const list = (
    <>
      <div className="find max-w-80">
        <Icon name="search" />
        <input
          className="in"
          type="search"
          aria-label={t('models.search')}
          placeholder={t('models.search')}
          value={find}
          onChange={({ target }) =>
            void navigate({ search: target.value === '' ? {} : { find: target.value }, replace: true })
          }
        />
      </div>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && found.length === 0 && <Empty title={t('studio.noModel')} />}
      {[...providers].map(([provider, models]) => (
        <ProviderCard key={provider} provider={provider} models={models} usualTime={usualTime} />
      ))}
    </>
  );
  return (
    <>
      <header className="top">
        <PageHeading>{t(caller?.mayAdministrate === true ? 'providers.title' : 'page.models')}</PageHeading>
        <span className="mute num">{found.length}</span>
      </header>
      <div className="page">
        <Health />
        {caller?.mayAdministrate === true && <Providers>{list}</Providers>}
        {caller?.mayAdministrate === false && list}
      </div>
    </>
  );
}

function Health() {
  const { data } = useQuery(HealthDocument, { fetchPolicy: 'cache-and-network' });
  const health = data?.health;
  const checks = Object.entries((health?.checks ?? {}) as Record<string, unknown>);
  return (
    <p className="row wrap c12 mute health">
      {health && <span className="tag">Kiln {health.version}</span>}
      {checks.map(([name, check]) => (
        <span key={name} className="tag">
          {textOr(`health.${name}`, name)}: {healthText(check)}
        </span>
      ))}
    </p>
  );
}

function ProviderCard({
  provider,
  models,
  usualTime,
}: {
  readonly provider: string;
  readonly models: readonly Model[];
  readonly usualTime: UsualTime;
}) {
  return (
    <section className="card">
      <header>
        <h2>{provider}</h2>
        <span className="c12 faint num">{models.length}</span>
        {models.every(({ sandbox }) => sandbox) && <SandboxTag />}
      </header>
      <div className="scroll" tabIndex={0} role="region" aria-label={provider}>
        <table>
          <thead>
            <tr>
              <th>{t('studio.model')}</th>
              <th>{t('task.generator')}</th>
              <th>{t('models.makes')}</th>
              <th>{t('models.price')}</th>
              <th>{t('models.limits')}</th>
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <tr key={model.id}>
                <td>
                  <Link className="med" to="/" search={{ kind: tabOf(model.kinds[0] ?? '') }}>
                    {model.name}
                  </Link>
                  <End model={model} />
                </td>
                <td className="mono">{model.generator}</td>
                <td>{model.kinds.map((kind) => textOr(`kind.${kind}`, kind)).join(', ')}</td>
                <td className="c12">
                  {[priceText(model), usualTime(model)].filter((fact) => fact !== null).join(' · ')}
                </td>
                <td className="c12 mute">{limitsOf(model)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Days before its end from which a model's row says so. */
const WARN_DAYS = 60;

function End({ model: { retiresAt, sandbox } }: { readonly model: Model }) {
  // The sandbox ends none.
  const days =
    retiresAt === null || sandbox ? Infinity : Math.ceil((Date.parse(retiresAt) - Date.now()) / 86_400_000);
  return days > WARN_DAYS ? null : <p className="c12 ATTENTION">{t('models.endsIn', { days })}</p>;
}

function healthText(check: unknown): string {
  return typeof check === 'string' ? textOr(`health.${check}`, check) : JSON.stringify(check);
}

function searchText({ name, id, generator, provider, category }: Model): string {
  return `${name} ${id} ${generator} ${provider} ${category}`.toLowerCase();
}

function limitsOf({
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
