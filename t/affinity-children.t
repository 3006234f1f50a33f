# SPDX-License-Identifier: Apache-2.0
# Programs started from pinned threads: CPUAffinityChildren original and
# inherit, under mod_cgi, mod_cgid and mod_ext_filter.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

my $lacks = Test::Httpd::lacks_two_cpus();
plan skip_all => $lacks if $lacks;

my $script = <<'END';
#!/bin/sh
printf 'Content-Type: text/plain\n\n'
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
END
my $filter = <<'END';
#!/bin/sh
cat >/dev/null
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
END

# The CPUs that this test itself may use: what httpd is started with.
sub own_mask {
    open my $f, '<', '/proc/self/status' or die $!;
    my ($m) = map { /^Cpus_allowed_list:\s*(\S+)/ ? $1 : () } <$f>;
    return $m;
}

sub server {
    my ($children, $cgi, %o) = @_;
    my $h = Test::Httpd->new(modules => [ $cgi, 'ext_filter' ], %o,
        conf => <<"END");
CPUAffinity map 1
CPUAffinityChildren $children
ScriptAlias /cgi-bin/ "\@ROOT\@/cgi-bin/"
<IfModule cgid_module>
ScriptSock \@ROOT\@/run/cgisock
</IfModule>
<Directory "\@ROOT\@/cgi-bin">
    Require all granted
</Directory>
ExtFilterDefine mask mode=output cmd="\@ROOT\@/cgi-bin/filter"
<Location "/1k.txt">
    SetOutputFilter mask
</Location>
END
    $h->write_file('cgi-bin/mask', $script, 0755);
    $h->write_file('cgi-bin/filter', $filter, 0755);
    return $h->start;
}

my $mine = own_mask();
for my $cgi (qw(cgi cgid)) {
    my $h = server('original', $cgi);
    is $h->get('/cgi-bin/mask')->{body}, "$mine\n",
        "original: mod_$cgi runs with the mask of the start";
    is $h->get('/1k.txt')->{body}, "$mine\n",
        'original: and so does mod_ext_filter';
    $h->finish;
}

my $h = server('inherit', 'cgi');
is $h->get('/cgi-bin/mask')->{body}, "1\n",
    "inherit: mod_cgi runs with the worker's mask";
is $h->get('/1k.txt')->{body}, "1\n", 'inherit: and so does mod_ext_filter';
$h->finish;

$h = server('original', 'cgi', prefix => [ 'taskset', '-c', '1' ]);
is $h->get('/cgi-bin/mask')->{body}, "1\n",
    'original is the mask of the start, not all CPUs';
$h->finish;

$h = server('original', 'cgi', mpm => 'prefork');
is $h->get('/cgi-bin/mask')->{body}, "$mine\n", 'prefork: original';
# a child that has just been born is pinned in a moment
ok $h->wait_for(sub {
    my @t = $h->threads('main');
    return @t && !grep { $_->{cpus} ne '1' } @t;
}), 'prefork: processes are pinned';
$h->finish;

done_testing;
