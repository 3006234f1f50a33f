# SPDX-License-Identifier: Apache-2.0
# Which fields are special is told by who reads them: by the machine code of
# httpd and of each known module, and by a running httpd, look by look. What
# is read has to stand in docs/security.md, and there either be special to the
# loop or have a reason.
use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Test::Modules;
use Test::More;
use Test::Reads;

my @known = Test::Modules::known();
cmp_ok scalar @known, '>', 50, 'the known modules are read';
my $told = Test::Reads::told();
cmp_ok scalar keys %$told, '>', 20, 'the table of the rule book is read';
for my $module (sort keys %$told) {
    my @bad = grep {
        $told->{$module}{$_} eq 'special' xor Test::Reads::special($_)
    } keys %{ $told->{$module} };
    is "@bad", '', "$module: what the rule book calls special is";
}

sub file { return Test::Httpd::libexec() . "/mod_$_[0].so" }

SKIP: {
    my $why = Test::Reads::lacks();
    skip $why, 1 if $why;
    my @found = Test::Reads::of(Test::Httpd::httpd_binary());
    skip 'the code of this httpd is not understood', 1
        unless grep $_ eq 'If-Unmodified-Since', @found;
    my @all = map { keys %$_ } values %$told;
    my @missing = grep { my $n = lc; !grep $_ eq $n, @all } @found;
    is "@missing", '', 'what httpd itself looks up is in the rule book';
    for my $module (grep -e file($_), @known) {
        my $row = $told->{"mod_$module"} // {};
        @missing = grep !$row->{ lc $_ }, Test::Reads::of(file($module));
        is "@missing", '', "mod_$module: what it looks up is in the rule book";
    }
}

# httpd with all of them, and what it really looks at.
my $h = Test::Httpd->new(module => 0,
    modules => [ grep { -e file($_) && !/^systemd$/ } @known ],
    conf => <<'END');
AddOutputFilterByType DEFLATE text/html
SetEnvIf X-Named . named
LogFormat "%h %r %>s %{Referer}i %{X-Logged}i" l
CustomLog logs/l l
<Directory />
    AllowOverride None
    Options +MultiViews +Indexes +FollowSymLinks
</Directory>
END
my $reads = $h->write_file('run/reads', '', 0666);
$h->{env} = { READS => $reads,
    LD_PRELOAD => Test::Httpd::build_dir() . '/preload/reads.so' };
SKIP: {
    skip 'a sanitizer is in front of the C library itself', 1
        if $ENV{SANITIZER};
    $h->write_file('htdocs/a.txt.de', 'text');
    $h->write_file('htdocs/long.html', '<p>long' x 2000);
    mkdir $h->root . '/htdocs/list';
    $h->start;
    my %settled = ('x-reads' => 1, 'x-named' => 1, 'x-logged' => 1);
    my @fields = grep !/^(?:host|connection|content-length|transfer-encoding
        |expect|upgrade|http2-settings|x-reads)$/x,
        Test::Reads::all(), 'x-named', 'x-logged', 'te', 'max-forwards',
        'content-type', 'x-scheme', 'x-amz-cf-id', 'x-original-url';
    my %value = (range => 'bytes=0-1', 'if-range' => '"x"',
        'if-modified-since' => 'Thu, 01 Jan 1998 00:00:00 GMT',
        'if-none-match' => '"x"', accept => '*/*',
        'accept-encoding' => 'gzip, br');
    my @asked = ([], [@fields], ['accept-encoding']);
    for my $target ('/1k.txt', '/', '/long.html', '/none', '/a', '/list/') {
        for my $fields (@asked, $target eq '/1k.txt' ? map [$_], @fields : ()) {
            my $c = Test::Client->new($h->port);
            my $text = join '', "Host: localhost\r\nX-Reads: 1\r\n",
                map "$_: " . ($value{$_} // 'a') . "\r\n", @$fields;
            $c->send("HEAD $target HTTP/1.1\r\n$text\r\n"
                . "GET $target HTTP/1.1\r\n${text}Connection: close\r\n\r\n");
            1 while $c->more;
            $c->close;
        }
    }
    my %seen;
    $seen{$_}++ for split /\n/, Test::Httpd::slurp($reads);
    cmp_ok scalar keys %seen, '>', 10, 'looks at fields are seen';
    my @strange;
    for (sort keys %seen) {
        my ($object, $name) = split /\t/;
        (my $module = $object) =~ s/\.so$//;
        my $row = $told->{$module} // $told->{httpd};
        push @strange, "$object: $name"
            unless $settled{ lc $name } || $row->{ lc $name };
    }
    is "@strange", '', 'each is in the rule book';
    note join ', ', map s/\t/: /r, sort keys %seen;
}
$h->finish;
done_testing;
