import { useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';

import { ShopDocument } from '../../api/operations.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { priceText } from './order/template.ts';
import { TemplateForm } from './template-form.tsx';

/** What is for sale, one card each; the chosen one has its form beside them. */
export function Cards() {
  const { template: chosen } = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const { data, error } = useQuery(ShopDocument, { fetchPolicy: 'cache-and-network' });
  const templates = data?.templatesConnection.edges.map(({ node }) => node) ?? [];
  const template = templates.find(({ code }) => code === chosen);
  const choose = (code: string) =>
    void navigate({ search: code === chosen ? {} : { template: code }, replace: true });
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && templates.length === 0 && <Empty title={t('shop.none')} />}
      <div className={template === undefined ? '' : 'split'}>
        <ul className="ideas-list shop-cards">
          {templates.map((one) => (
            <li key={one.code}>
              <button
                type="button"
                className="idea-card"
                aria-pressed={one.code === chosen}
                onClick={() => choose(one.code)}
              >
                <span className="col gap-1 grow">
                  <span className="row">
                    <span className="med grow">{one.name}</span>
                    <span className="num">{priceText(one)}</span>
                  </span>
                  <span className="mute">{one.description}</span>
                  <span className="c12 faint">{t(`shop.${one.templateType}`)}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
        {template !== undefined && (
          <div>
            <TemplateForm key={template.code} template={template} />
          </div>
        )}
      </div>
    </>
  );
}
