import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { $api } from '../api/client';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { t } from '../texts';
import { Waiting } from './Page';
import css from './trust.module.css';

/** The vendors that the page names. They are looked after in the register of vendors. */
export function Processors() {
  const { can } = useMe();
  const mayRead = can('vendor:read');
  const {
    data,
    error,
    refetch: again,
  } = $api.useQuery(
    'get',
    '/v1/vendors',
    { params: { query: { isSubProcessor: true, sort: 'name', order: 'asc', limit: 200 } } },
    { enabled: mayRead },
  );
  const texts = t.trust.processors;
  if (!mayRead) return <p className={css.none}>{texts.noAccess}</p>;
  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!data) return <Waiting />;
  return (
    <div className={css.panel}>
      <div className={css.toolbar}>
        <p className={css.lead}>{data.data.length === 0 ? texts.empty : texts.lead}</p>
        <Button component={Link} to="/vendors" variant="default">
          {texts.manage}
        </Button>
      </div>
      <ul className={css.posts}>
        {data.data.map((vendor) => (
          <li key={vendor.id} className={css.post}>
            <div>
              <h2>
                <Link to="/vendors" search={{ open: vendor.id }}>
                  {vendor.name}
                </Link>
              </h2>
              {vendor.description && <p className={css.body}>{vendor.description}</p>}
              <div className={css.meta}>
                <span>{t.vendors.category[vendor.category]}</span>
                {vendor.website && <span>{vendor.website}</span>}
              </div>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
