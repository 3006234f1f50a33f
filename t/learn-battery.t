# SPDX-License-Identifier: Apache-2.0
# Each module of the table in src/learn/modules_known.c that is installed, and
# not configured, makes no difference: stock httpd gives the same bytes with
# and without it, and does the same for them: variables, fields, filters,
# handlers, names that are looked for, lines of the logs (t/module/observe.c).
# What is excused is named here, and by rule in docs/security.md.
#
# THIRD=DIRECTORY: modules that are not httpd's own are looked for there, too.
use strict;
use warnings;
use Test::More;
use Test::Httpd;
use Test::Modules;
use IO::Select;
use IO::Socket::INET;

# In both servers: what answers here in ways of its own.
my @common = qw(autoindex negotiation headers filter deflate reqtimeout logio
    cgid status info asis);

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or return '';
    local $/;
    return <$fh> // '';
}

my @third = @Test::Modules::third;
my %third = map { $_ => 1 } @third;
my @known = Test::Modules::known();
my @own = grep { !$third{$_} && !/^cgi$|^cpuaffinity$/ } @known;
is_deeply [ grep { my $m = $_; !grep { $_ eq $m } @known } @common, @third,
    grep !/^lbmethod/, @Test::Modules::rhel ], [], 'all of these modules are in the table';

# --- the test's own module, and what notes the names ---

my $base = Test::Httpd->new(module => 0); # for its ServerRoot only
my $so = $base->root . '/mod_observe.so';
chomp(my ($cflags, $cppflags, $include) = map `@{[Test::Httpd::apxs()]} -q $_`,
    qw(CFLAGS EXTRA_CPPFLAGS INCLUDEDIR));
chomp(my $apr = `apr-1-config --includes --cppflags`);
is system("cc -shared -fPIC $cflags $cppflags -I$include $apr -o $so "
    . 't/module/observe.c'), 0, 'the module is built';
my $names = Test::Httpd::build_dir() . '/preload/names.so';

# --- the requests ---

my @targets = qw(/ /index.html /1k.txt /plain /x.css /doc.html.en /doc /m.map
    /none.html /none/ /sub /sub/ /s.shtml /sub/?C=N /1k.txt?a=b&c=%20d
    /1k.txt/info /%31k.txt /sub/../1k.txt //1k.txt /.htaccess
    /.well-known/acme-challenge/x /~nobody/ /%7Enobody /a.cgi /cgi.asis
    /upload-progress /1k.TXT /indez.html);
my @fields = ('', 'Cookie: session=abc; Apache=1', 'User-Agent: Mozilla/5.0',
    'Authorization: Basic YTpi', 'Authorization: Digest username="a"',
    'Authorization: Negotiate YII=', 'Accept-Encoding: gzip, br',
    'Accept-Language: de, en;q=0.5', 'Accept: text/html', 'Range: bytes=1-3',
    'Range: bytes=0-0,2-2', 'If-None-Match: *', 'If-Match: "x"',
    'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT', 'Cache-Control: no-cache',
    'Pragma: no-cache', 'Depth: 1', 'Overwrite: F', 'Destination: /x',
    'Lock-Token: <a>', 'If: (<a>)', 'X-Forwarded-For: 192.0.2.1',
    'X-Progress-ID: 7', 'X-Sendfile: /etc/passwd', 'Origin: http://a',
    'Referer: http://a/', 'Via: 1.1 a', 'Max-Forwards: 1', 'Expect: 100-continue',
    'TE: trailers', 'Upgrade: websocket', 'Want-Digest: sha-256');
my @hosts = qw(localhost a.test b.test other.test);
my @methods = qw(HEAD OPTIONS POST PUT DELETE TRACE PROPFIND LOCK MERGE
    PATCH FOO);
my @requests;

sub add {
    my ($method, $target, @more) = @_;
    my $n = @requests;
    push @requests, join "\r\n", "$method $target HTTP/1.1",
        'Host: ' . $hosts[ $n % @hosts ], "X-N: $n", 'Connection: close',
        (grep length, @more), ($method =~ /^P/ ? 'Content-Length: 0' : ()), '',
        '';
}
add('GET', $_) for @targets;
add('GET', $targets[ $_ % 7 ], $fields[$_]) for 0 .. $#fields;
add('GET', $targets[ $_ % @targets ], $fields[$_]) for 0 .. $#fields;
add('HEAD', $_) for @targets[ 0 .. 9 ];
add($_, '/1k.txt') for @methods;
add($_, '/sub/') for @methods;

# --- the servers ---

sub server {
    my ($conf, @modules) = @_;
    my $third = join '', map "LoadModule ${_}_module $ENV{THIRD}/mod_$_.so\n",
        grep { !Test::Modules::is_installed($_) } grep $third{$_}, @modules;
    my $h = Test::Httpd->new(module => 0, modules => [ @common, @modules ],
        conf => <<"END");
${third}LoadModule observe_module $so
ServerTokens Prod
AddHandler type-map map
AddHandler send-as-is asis
AddHandler cgi-script cgi
AddOutputFilterByType DEFLATE text/css
Options +Indexes +MultiViews
LogFormat "\%{X-N}i \\"%r\\" %>s %B %I %O %X %u %<{observed}n" all
CustomLog logs/observed all
$conf
<VirtualHost *:\@PORT\@>
    ServerName localhost
</VirtualHost>
<VirtualHost *:\@PORT\@>
    ServerName a.test
</VirtualHost>
<VirtualHost *:\@PORT\@>
    ServerName b.test
    DocumentRoot \@ROOT\@/htdocs/sub
</VirtualHost>
END
    $h->{env} = { LD_PRELOAD => join ':', grep $_, $ENV{PRELOAD}, $names };
    mkdir $h->root . '/htdocs/sub';
    my %files = (plain => "%PDF-1.4 plain\n", 'x.css' => "p { a: b }\n" x 40,
        'doc.html.en' => 'en', 'doc.html.de' => 'de',
        'm.map' => "URI: m.html\n\nURI: m.html\nContent-type: text/html\n",
        's.shtml' => '<!--#echo var="DATE_GMT" -->', 'sub/a.txt' => 'a',
        'sub/1k.txt' => 'of b', 'a.cgi' => '#!', 'cgi.asis' => "A: b\n\nasis");
    $h->write_file("htdocs/$_", $files{$_}) for keys %files;
    for my $path (glob($h->root . '/htdocs/*'), glob $h->root . '/htdocs/*/*') {
        utime 1_700_000_000, 1_700_000_000, $path;
    }
    utime 1_700_000_000, 1_700_000_000, $h->root . '/htdocs';
    return $h->start;
}

sub mask {
    my ($h, $text) = @_;
    my ($root, $port) = ($h->root, $h->port);
    $text =~ s/\Q$root\E/ROOT/g;
    $text =~ s/\b$port\b/PORT/g;
    $text =~ s/^(Allow: )([^\r\n]*)/$1 . join ',', sort split m{,}, $2/meg;
    $text =~ s/(\bAllow:)([^;]*)/$1 . join ',', sort split m{,}, $2/eg;
    $text =~ s/^(Date: ).*$/$1/mg;
    $text =~ s/(boundary=|\r\n--)[0-9a-f]+/$1/g;
    return $text;
}

sub ask {
    my ($h, $request) = @_;
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
        PeerPort => $h->port, Timeout => 5) or die "connect: $!";
    my ($all, $select) = ('', IO::Select->new($s));
    print {$s} $request;
    while ($select->can_read(10)) {
        sysread $s, $all, 65536, length $all or last;
    }
    close $s;
    return mask($h, $all);
}

# @return for each request the answer and the line of the log
sub run {
    my ($h) = @_;
    my @got = map { { bytes => ask($h, $_) } } @requests;
    my $path = $h->root . '/logs/observed';
    $h->wait_for(sub { (() = slurp($path) =~ /\n/g) >= @requests });
    for (split /\n/, mask($h, slurp($path))) {
        $got[$1]{log} = $2 if /^(\d+) (.*)/;
    }
    my @errors = map { s/^.*?\[client [^\]]*\] //r }
        grep /\[client /, split /\n/, mask($h, $h->log);
    return { all => \@got, errors => join "\n", sort @errors };
}

# @return how many requests differ
sub differences {
    my ($a, $b, $excused, $tell) = @_;
    my $count = 0;
    for my $n (0 .. $#requests) {
        for my $what (qw(bytes log)) {
            my ($x, $y) = map $_->{all}[$n]{$what} // 'none', $a, $b;
            $excused->() for $y;
            next if $x eq $y;
            $count++;
            next unless $tell && $count < 4;
            my @x = split /(?<=[ ;\n])/, $x;
            my @y = split /(?<=[ ;\n])/, $y;
            shift @x, shift @y while @x && @y && $x[0] eq $y[0];
            diag "$requests[$n]$what without: @x[0 .. ($#x > 5 ? 5 : $#x)]\n",
                "$what with: @y[0 .. ($#y > 5 ? 5 : $#y)]";
        }
    }
    return $count if $a->{errors} eq $b->{errors};
    diag "without:\n$a->{errors}\nwith:\n$b->{errors}" if $tell;
    return $count + 1;
}

my $nothing = sub { };

# R5, R3: a variable, and a filter that does nothing
my $excused = sub {
    s/\b(?:REDIRECT_)?UNIQUE_ID:[^; ]*[;]?//g;
    s/\bMOD_SESSION_OUT,//gi;
    s{\bopen ROOT/md/challenges/[^;]*;}{}g; # S2: by the path that was asked for
};

my $without = server('');
my $expected = run($without);
is scalar(grep defined $_->{log}, @{ $expected->{all} }), scalar @requests,
    scalar(@requests) . ' requests are logged';
is differences($expected, run(my $again = server('')), $nothing, 1), 0,
    'two servers without further modules do the same';
$again->finish;

my @installed = grep { Test::Modules::is_installed($_) } @own;
cmp_ok scalar @installed, '>', 80, scalar(@installed) . ' modules are installed';
for my $case ([ 'what RHEL loads', 'UserDir disabled', @Test::Modules::rhel ],
    [ 'all of the table', '', @installed ],
    map { [ "mod_$_", '', $_ ] } grep {
        Test::Modules::is_installed($_)
            || ($ENV{THIRD} && -e "$ENV{THIRD}/mod_$_.so")
    } @third) {
    my ($name, $conf, @modules) = @$case;
    my $h = server($conf, @modules);
    is differences($expected, run($h), $excused, 1), 0,
        "$name: no difference";
    $h->finish;
}

# That a difference would be seen.
for my $module (qw(unique_id session)) {
    my $h = server('', $module);
    cmp_ok differences($expected, run($h), $nothing, 0), '>', 50,
        "mod_$module is seen";
    $h->finish;
}
$without->finish;
done_testing;
