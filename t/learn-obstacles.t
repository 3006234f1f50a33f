# SPDX-License-Identifier: Apache-2.0
# What stands in the way of repeating answers is said per virtual host and
# section, with file, line, rule and advice; and what a section refuses is
# refused for that section's requests only: A is learned (or not), B would get
# other bytes.
use strict;
use warnings;
use Test::More;
use Test::Twin;

# Each: name, directives of a virtual host ("DIR": its document root), and
# what the dump says of it: a pattern for its own line, and patterns for those
# below it. The loop answers /f.html if the line says that answers may be
# repeated.
my $on = qr/answers may be repeated/;
my @vhosts = (
    [ 'plain', '', $on ],
    [ 'rewrite', "<Directory DIR>\nRewriteEngine on\n</Directory>",
        qr/off, S2: RewriteEngine configures mod_rewrite\.c \(\S+:\d+\)/ ],
    [ 'part', "<Directory DIR/in>\nRewriteEngine on\n</Directory>", $on,
        qr{<Directory "?\S+/in"?>, S2: RewriteEngine configures mod_rewrite} ],
    [ 'expires', "<Directory DIR>\nExpiresActive on\nExpiresDefault A60\n"
        . '</Directory>', $on ],
    [ 'htaccess', "<Directory DIR>\nAllowOverride All\n</Directory>",
        $on ],
    [ 'list', "<Directory DIR>\nAllowOverride None\nAllowOverrideList Require\n"
        . '</Directory>', $on ],
    [ 'owner', "<Directory DIR>\nOptions SymLinksIfOwnerMatch\n</Directory>",
        qr/off, R6: Options has links checked/ ],
    [ 'minus', "<Directory DIR>\nOptions -FollowSymLinks\n</Directory>",
        qr/off, R6: Options has links checked/ ],
    [ 'more', "<Directory DIR>\nOptions +SymLinksIfOwnerMatch\n</Directory>",
        qr/off, R6: Options / ],
    [ 'plus', "<Directory DIR>\nOptions +Indexes\n</Directory>", $on ],
    [ 'ip', "<Directory DIR>\nRequire ip 127.0.0.1\n</Directory>",
        qr/off, R4: Require asks who the client is/ ],
    [ 'granted', "<Directory DIR/in>\nRequire ip 127.0.0.1\n</Directory>\n"
        . "<Directory DIR>\nRequire all granted\n</Directory>", $on,
        qr{<Directory \S+/in"?>, R4: Require asks} ],
    [ 'protocol', "Protocols h2c http/1.1\nH2Direct on", $on ],
    [ 'if', qq{<If "%{HTTP_COOKIE} == 'x'">\nHeader set X-A b\n</If>},
        qr/off, R2: <If> decides by an expression \(\S+:\d+\)/ ],
    [ 'ifin', qq{<Location "/in/">\n<If "-z %{HTTP_COOKIE}">\n}
        . "Header set X-A b\n</If>\n</Location>", $on,
        qr{<Location "/in/">, R2: <If>} ],
    [ 'handler', "<Directory DIR/in>\nSetHandler send-as-is\n</Directory>", $on,
        qr{<Directory \S+/in"?>, R2: SetHandler} ],
    [ 'program', qq{<Location "/in/">\nSetHandler server-status\n</Location>},
        $on ],
    [ 'filter', qq{<Location "/">\nSetOutputFilter SUBSTITUTE\n</Location>},
        qr/off, R3: SetOutputFilter puts SUBSTITUTE on the way out/ ],
    [ 'byname', 'AddOutputFilter SUBSTITUTE .shtml', $on,
        qr/server, R3: AddOutputFilter puts SUBSTITUTE on the way out/ ],
    [ 'deflate', 'AddOutputFilterByType DEFLATE text/plain', $on ],
    [ 'header', qq{<Location "/in/">\nHeader set X-Time "%D"\n</Location>}, $on,
        qr{<Location "/in/">, S2: Header is not a constant \(\S+:\d+\)} ],
    [ 'whole', qq{Header set X-Time "%D"},
        qr/off, S2: Header \(\S+:\d+\) is not a constant/,
        qr/server, S2: Header is not a constant/ ],
    [ 'digest', "<Directory DIR>\nContentDigest on\n</Directory>",
        qr/off, R7: ContentDigest adds Content-MD5/ ],
    [ 'off', "<Directory DIR/in>\nFixedStatic off\nRewriteEngine on\n"
        . '</Directory>', $on ],
    [ 'log', 'CustomLog logs/l "%R"', qr/off, S2: CustomLog /,
        qr/server, S2: CustomLog/ ],
);

my $conf = '';
for (@vhosts) {
    my ($name, $text) = @$_;
    my $dir = "\@ROOT\@/htdocs/$name";
    $text =~ s/DIR/$dir/g;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot $dir\n$text\n</VirtualHost>\n";
}
my $t = Test::Twin->new(conf => $conf, modules => [qw(rewrite expires http2
    headers filter deflate substitute asis)]);
$t->file("$_->[0]/$_->[1]", 'text') for map {
    ([ $_->[0], 'f.html' ], [ $_->[0], 'in/f.html' ]) } @vhosts;
$t->file('htaccess/.htaccess', "AddType a/b none\n");
$t->start;

my ($code, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
my %said = $dump =~ /^FixedStatic for (\S+)\.test: (.*\n(?:  .*\n)*)/mg;
my %state = map { $_->{server} => $_ }
    @{ $t->fixed->json('/cpuaffinity?json')->{learning}{servers} };
my $page = $t->fixed->get('/cpuaffinity')->{body};
my @index;
for (@vhosts) {
    my ($name, $text, $line, @below) = @$_;
    my ($first, @rest) = split /\n/, $said{$name} // '';
    like $first, $line, "$name: its line";
    my @obstacles = @{ $state{"$name.test"}{obstacles} };
    if (@below) {
        my $i = grep $rest[$_] =~ /^  not in $below[0]/, 0 .. $#rest;
        is $i, 1, "$name: what is below" or diag $said{$name};
        is $state{"$name.test"}{state}, $first =~ $on ? 'on' : 'off',
            "$name: the same in the status";
    }
    elsif ($line eq $on) {
        is "@rest", '', "$name: nothing is in the way";
    }
    is scalar(grep(/^    change: \S/, @rest)), scalar(@obstacles),
        "$name: as many in the status, each with advice";
    for my $o (@obstacles) {
        push @index, $o->{index};
        like $o->{rule}, qr/^[RS]\d$/, "$name: rule";
        like "$o->{file}:$o->{line}", qr/httpd\.conf:[1-9]\d*$/, "$name: place";
        (my $what = $o->{what}) =~ s/</&lt;/g;
        $what =~ s/>/&gt;/g;
        like $page, qr/\Q$what\E/, "$name: on the page";
    }
}
is scalar(keys %{ { map { $_ => 1 } @index } }), scalar(@index),
    'every obstacle has an index of its own';

# It is true: where the line says so, and only there, the loop answers.
for (@vhosts) {
    my ($name, undef, $line) = @$_;
    my $r = $t->request('/f.html', "Host: $name.test");
    my $hits = $t->hits;
    $line eq $on ? $t->learned($r) : $t->learn($r);
    my $got = $t->hits - $hits;
    ok $line eq $on ? $got : !$got, "$name: as said" or diag $t->fixed->log;
}

# And counted: requests that it refused are the obstacle's, none the rule's.
for (@vhosts) {
    my $r = $t->request('/in/f.html', "Host: $_->[0].test");
    $t->ask($t->fixed, [ $r, $r ]);
}
for my $s (@{ $t->fixed->json('/cpuaffinity?json')->{learning}{servers} }) {
    my ($name) = $s->{server} =~ /^(\w+)\.test$/ or next;
    my ($vhost) = grep $_->[0] eq $name, @vhosts;
    my @met = grep $_->{requests}, @{ $s->{obstacles} };
    my @rules = grep { $_->{kind} eq 'rule' && $_->{text} !~ /handler's/ }
        @{ $s->{causes} };
    my $said = join ', ', map "$_->{what} $_->{requests}", @met;
    next if $name =~ /^(?:deflate|program|byname)$/;
    is_deeply \@rules, [], "$name: no refusal without an obstacle"
        or diag explain \@rules;
    my $refused = $s->{state} eq 'off' || $vhost->[3] || 0;
    $refused ? ok @met && $met[0]{requests} > 1, "$name: counted: $said"
        : is "@met", '', "$name: none met";
    ok $s->{state} eq 'off' ? $met[0]{covers} : !grep($_->{covers}, @met),
        "$name: the one that covers it, or none";
}
$t->finish;

# Addresses that the loop leaves to httpd are said, with the reason; so is a
# virtual host that is TLS, and what it cost.
my @port = map Test::Httpd::free_port(), 1 .. 4;
my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 8\n",
    modules => [qw(ssl)], conf => "FixedProcesses 1\nFixedStatic on\n"
    . "LimitRequestFields 50\n" . join('', map "Listen 127.0.0.1:$_\n",
        @port[0, 1]) . "Listen $port[2]\nListen 127.0.0.1:$port[3] https\n"
    . <<"END");
<Directory />
    AllowOverride None
</Directory>
<Location /cpuaffinity>
    SetHandler cpuaffinity-status
</Location>
<VirtualHost *:$port[0]>
    ServerName tls.test
    SSLEngine on
    SSLCertificateFile \@ROOT\@/cert.pem
</VirtualHost>
<VirtualHost *:$port[1]>
    ServerName off.test
    FixedStatic off
</VirtualHost>
<VirtualHost 127.0.0.2:$port[2]>
    ServerName other.test
    Timeout 4
</VirtualHost>
END
system "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tls.test "
    . "-keyout ${\$h->root}/key.pem -out ${\$h->root}/crt.pem 2>/dev/null; "
    . "cat ${\$h->root}/crt.pem ${\$h->root}/key.pem > ${\$h->root}/cert.pem";
($code, $dump) = $h->run('-t', '-D', 'DUMP_CPUAFFINITY');
my %address = $dump =~ /^FixedStatic on (\S+): (.*)/mg;
is $address{ '127.0.0.1:' . $h->port },
    'requests are read, at most LimitRequestFields 50', 'an address, its limit';
is $address{"127.0.0.1:$port[0]"}, 'requests are not read: tls.test has TLS',
    'TLS';
is $address{"127.0.0.1:$port[3]"},
    'requests are not read: its Listen is for https', 'Listen';
like $address{"0.0.0.0:$port[2]"} // $address{"[::]:$port[2]"},
    qr/^requests are not read: other\.test may be its default virtual host too/,
    'times';
my ($tls) = $dump =~ /^(FixedStatic for tls.*\n(?:  .*\n)*)/m;
like $tls, qr/: off, R1: SSLEngine makes it TLS, [^\n]* \(\S+:\d+\)\n/,
    'the virtual host';
$h->start;
is $h->get('/1k.txt', %$_)->{status}, 200, 'asked'
    for ({ port => $port[0], https => 1 }) x 3, ({ port => $port[1] }) x 2,
    { port => $port[2] };
my $all = $h->json('/cpuaffinity?json')->{learning};
for (@{ $all->{addresses} }) { # [::] stands for 0.0.0.0 too, once it is bound
    like $address{ $_->{address} }, $_->{reads} ? qr/are read/ : qr/not read/,
        "$_->{address}: the same in the status";
}
cmp_ok scalar @{ $all->{addresses} }, '>=', 5, 'which has all';
my ($t2) = grep $_->{server} eq 'tls.test', @{ $all->{servers} };
is $t2->{obstacles}[0]{requests}, 3, 'what TLS cost';
is $all->{requests}{elsewhere}, 2, 'what was asked where it is off';
my ($t3) = grep $_->{server} eq 'localhost', @{ $all->{servers} };
is +(grep $_->{name} eq 'unseen', @{ $t3->{causes} })[0]{requests}, 1,
    'what was not read';
like $h->get('/cpuaffinity')->{body},
    qr/What comes to 127\.0\.0\.1:$port[0] is not read: tls\.test has TLS/,
    'and on the page';
$h->finish;

# Sections that refuse, each with the fields of a B that gets other bytes; the
# rest of the site, under constants in sections of its own, is learned.
my @cases = (
    [ 'Location', qq{<Location "/c%d/">\nX\n</Location>} ],
    [ 'Directory', "<Directory \"\@ROOT\@/htdocs/c%d\">\nX\n</Directory>" ],
    [ 'Files', "<Directory \"\@ROOT\@/htdocs/c%d\">\n<Files f.html>\nX\n"
        . "</Files>\n</Directory>" ],
    [ 'FilesMatch', qq{<FilesMatch "^only%d">\nX\n</FilesMatch>}, 'only%d' ],
    [ 'LocationMatch', qq{<LocationMatch "^/c%d/f">\nX\n</LocationMatch>} ],
    [ 'DirectoryMatch', qq{<DirectoryMatch "/c%d/">\nX\n</DirectoryMatch>} ],
    [ 'Limit', qq{<Location "/c%d/">\n<Limit GET>\nX\n</Limit>\n</Location>} ],
    [ 'within others', qq{<Location "/c%d/">\nX\n</Location>\n}
        . qq{<Location "/c%d/f">\nHeader set X-C c\n</Location>} ],
    [ 'twice', qq{<Location "/c%d/">\nX\n</Location>\n<Location "/c%d/f">\nX\n}
        . '</Location>' ],
);
my %texts = (
    header => [ 'Header set X-Said "%{X-Forwarded-For}i"',
        'Header set X-Said "%{REMOTE_ADDR}e"' ],
    request => [ 'RequestHeader unset If-None-Match',
        'RequestHeader unset If-None-Match' ],
);
my ($n, @all) = (0);
$conf = "Header set X-All constant\n<Directory \"\@ROOT\@/htdocs\">\n"
    . "Header set X-Dir constant\n</Directory>\n";
for my $case (@cases) {
    for my $text ('RequestHeader setifempty Range bytes=1-2',
        q{Header set X-A b "expr=%{HTTP_COOKIE} =~ /secret/"},
        'SetEnvIf Remote_Addr 127.0.0.2 nokeepalive',
        "FilterDeclare x$n\nFilterProvider x$n SUBSTITUTE "
            . qq{"%{HTTP_COOKIE} =~ /secret/"\nFilterChain x$n}
            . qq{\nSubstitute s/text/TEXT/}) {
        my ($name, $around, $file) = @$case;
        next if $name eq 'Limit' && $text =~ /Filter/;
        (my $section = $around) =~ s/X\n/$text\n/g;
        $section =~ s/%d/$n/g;
        ($file //= 'f.html') =~ s/%d/$n/g;
        $conf .= "$section\n";
        push @all, [ "$name, " . (split ' ', $text)[0], "/c$n/$file" ];
        $n++;
    }
}
# From a directory to its index: the sections of both count.
$conf .= <<'END';
<LocationMatch "^/d0/$">
    <If "%{REMOTE_ADDR} == '127.0.0.2'">
        Require all denied
    </If>
</LocationMatch>
<LocationMatch "^/d1/$">
    RequestHeader set Range bytes=1-2 "expr=%{HTTP_COOKIE} =~ /secret/"
</LocationMatch>
<LocationMatch "^/d2/$">
    FixedStatic off
</LocationMatch>
END
push @all, map [ "index $_", "/d$_/" ], 0 .. 2;

$t = Test::Twin->new(conf => $conf, modules => [qw(headers filter substitute
    setenvif)]);
for (@all) {
    my $file = substr $_->[1], 1;
    $t->file($file =~ m{/$} ? "${file}index.html" : $file, 'some text');
    $t->file("c$n/other.html", 'other');
}
$t->file("$_/other.html", 'other') for map "c$_", 0 .. $n - 1;
$t->start;
my $before = $t->hits;
for (@all) {
    my ($name, $target) = @$_;
    my $a = $t->request($target);
    my $hits = $t->hits;
    $t->learn($a);
    $t->same("$name: A", [ $a, $a ]);
    is $t->hits, $hits, "$name: httpd answers";
    $t->same("$name: B", [ ($t->request($target, 'Cookie: secret',
        'Range: bytes=0-3')) x 2 ], from => '127.0.0.2');
}
is $t->hits, $before, 'none of them is the loop\'s';
for my $target (map "/c$_/other.html", 0 .. 8) {
    next if ($all[ substr($target, 2, 1) ][0]) =~ /^(?:Location|Directory|Limit)/
        && $all[ substr($target, 2, 1) ][0] !~ /LocationMatch/;
    my $r = $t->request($target);
    ok $t->learned($r), "$target beside them is";
    $t->same("$target: the same bytes", [ $r, $r ]);
}
ok $t->learned($t->request('/1k.txt')), 'and the rest of the site';
like $t->fixed->log,
    qr{/c0/f.html is not learned \(S2\): [^\n]*RequestHeader[^\n]*httpd\.conf:\d+\)},
    'the log names directive and place';
($code, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
like $dump, qr/^FixedStatic for \S+: answers may be repeated/m, 'so says the dump';
$t->finish;
done_testing;
