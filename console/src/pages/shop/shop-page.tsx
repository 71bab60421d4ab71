import { useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';

import { useIsSignedIn } from '../../api/credential.ts';
import { ShopDocument } from '../../api/operations.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { ShopHistory } from './shop-history.tsx';
import { TemplateForm } from './template-form.tsx';

/** The templates as cards with one form each, and what was run and paid. */
export function ShopPage() {
  const { template: chosen } = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const isSignedIn = useIsSignedIn();
  const { data, error } = useQuery(ShopDocument);
  const templates = data?.templatesConnection?.edges.map(({ node }) => node) ?? [];
  const template = templates.find(({ code }) => code === chosen);
  return (
    <>
      <header className="top">
        <h1>{t('page.shop')}</h1>
        <span className="mute num">{data === undefined ? '' : templates.length}</span>
      </header>
      <div className="page">
        {error !== undefined && <Problem error={error} />}
        {data !== undefined && templates.length === 0 && <Empty title={t('shop.none')} />}
        <ul className="ideas-list">
          {templates.map(({ code, name, description, creditCost, templateType }) => (
            <li key={code}>
              <button
                type="button"
                className="idea-card"
                aria-pressed={code === chosen}
                onClick={() =>
                  void navigate({ search: code === chosen ? {} : { template: code }, replace: true })
                }
              >
                <span className="col gap-1">
                  <span className="med">{name}</span>
                  <span className="mute">{description}</span>
                  <span className="c12 faint">
                    {t(`shop.${templateType}`)} · {t('shop.credits', { count: creditCost })}
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
        {template !== undefined && <TemplateForm key={template.code} template={template} />}
        {isSignedIn && <ShopHistory />}
      </div>
    </>
  );
}
