# SPDX-License-Identifier: Apache-2.0
# .htaccess files that appear, vanish or change, and what is on the way to
# them: what was learned before is not repeated (VALID is 0 here), and what
# httpd then says is learned anew. Stock httpd, whose tree changes alike, gives
# the expected answers.
use strict;
use warnings;
use File::Path qw(remove_tree);
use Test::More;
use Test::Twin;

my $ban = "ForceType text/x-ban\n";
sub put {
    my ($path, $text) = @_;
    open my $f, '>', $path or die "$path: $!";
    print {$f} $text;
    close $f or die "$path: $!";
    utime 1_700_000_000, 1_700_000_000, $path;
}

# In place: the same inode.
sub edit {
    my ($path, $text) = @_;
    open my $f, '+<', $path or die "$path: $!";
    print {$f} $text;
    close $f or die "$path: $!";
    utime 1_700_000_000, 1_700_000_000, $path;
}

# Each: name; what is there before; the change, of the case's directory (a/b/c
# below it has the file); 1 when answers are learned afterwards; more of the
# log that is expected.
my @cases = (
    [ 'appears', sub {}, sub { put("$_[0]/a/b/c/.htaccess", $ban) }, 1 ],
    [ 'appears above', sub {}, sub { put("$_[0]/a/.htaccess", $ban) }, 1 ],
    [ 'appears, second name', sub {}, sub { put("$_[0]/a/b/c/.second", $ban) },
        1 ],
    [ 'appears before the second name',
        sub { put("$_[0]/a/b/c/.second", $ban) },
        sub { put("$_[0]/a/b/c/.htaccess", "ForceType text/x-first\n") }, 1 ],
    [ 'first name vanishes', sub {
        put("$_[0]/a/b/c/.second", $ban);
        put("$_[0]/a/b/c/.htaccess", "ForceType text/x-first\n");
    }, sub { unlink "$_[0]/a/b/c/.htaccess" }, 1 ],
    [ 'vanishes', sub { put("$_[0]/a/b/c/.htaccess", $ban) },
        sub { unlink "$_[0]/a/b/c/.htaccess" }, 1 ],
    [ 'is edited, its times set back',
        sub { put("$_[0]/a/b/c/.htaccess", $ban) },
        sub { edit("$_[0]/a/b/c/.htaccess", "ForceType text/x-bar\n") }, 1 ],
    [ 'is edited above', sub { put("$_[0]/.htaccess", $ban) },
        sub { edit("$_[0]/.htaccess", "ForceType text/x-bar\n") }, 1 ],
    [ 'is replaced', sub { put("$_[0]/a/b/c/.htaccess", $ban) }, sub {
        put("$_[0]/new", "ForceType text/x-new\n");
        rename "$_[0]/new", "$_[0]/a/b/c/.htaccess" or die $!;
    }, 1 ],
    [ 'forbids', sub { put("$_[0]/a/b/c/.htaccess", $ban) },
        sub { edit("$_[0]/a/b/c/.htaccess", "Require all denied   ") }, 0 ],
    [ 'asks who the client is', sub {},
        sub { put("$_[0]/a/b/.htaccess", "Require ip 127.0.0.2\n") }, 0 ],
    [ 'is wrong', sub {}, sub { put("$_[0]/a/b/.htaccess", "What is this") },
        0 ],
    [ 'becomes a directory', sub { put("$_[0]/a/b/c/.htaccess", $ban) }, sub {
        unlink "$_[0]/a/b/c/.htaccess";
        mkdir "$_[0]/a/b/c/.htaccess" or die $!;
    }, 0 ],
    [ 'a directory appears', sub {}, sub { mkdir "$_[0]/a/.htaccess" }, 0 ],
    [ 'a link that goes round appears', sub {},
        sub { symlink '.htaccess', "$_[0]/a/b/.htaccess" }, 0 ],
    [ 'a link to nothing appears', sub {},
        sub { symlink 'none', "$_[0]/a/b/.htaccess" }, 1 ],
    [ 'a link to it changes', sub {
        put("$_[0]/one", $ban);
        put("$_[0]/two", "ForceType text/x-two\n");
        symlink '../one', "$_[0]/a/.htaccess";
    }, sub {
        unlink "$_[0]/a/.htaccess";
        symlink '../two', "$_[0]/a/.htaccess";
    }, 1 ],
    [ 'what it links to changes', sub {
        put("$_[0]/one", $ban);
        symlink '../one', "$_[0]/a/.htaccess";
    }, sub { edit("$_[0]/one", "ForceType text/x-two\n") }, 1 ],
    [ 'what it links to vanishes', sub {
        put("$_[0]/one", $ban);
        symlink '../one', "$_[0]/a/.htaccess";
    }, sub { unlink "$_[0]/one" }, 1 ],
    [ 'becomes a link to the same bytes', sub {
        put("$_[0]/one", "Header set X-A a\n");
        put("$_[0]/a/.htaccess", $ban);
    }, sub {
        unlink "$_[0]/a/.htaccess";
        symlink '../one', "$_[0]/a/.htaccess";
    }, 1 ],
    [ 'a directory with one takes the place of another', sub {
        mkdir "$_[0]/other";
        put("$_[0]/other/.htaccess", $ban);
    }, sub {
        # the very same directory and file below
        rename "$_[0]/a/b", "$_[0]/other/b" or die $!;
        rename "$_[0]/a", "$_[0]/gone" or die $!;
        rename "$_[0]/other", "$_[0]/a" or die $!;
    }, 1 ],
    [ 'a directory without one takes its place', sub {
        mkdir "$_[0]/other";
        put("$_[0]/a/.htaccess", $ban);
    }, sub {
        rename "$_[0]/a/b", "$_[0]/other/b" or die $!;
        rename "$_[0]/a", "$_[0]/gone" or die $!;
        rename "$_[0]/other", "$_[0]/a" or die $!;
    }, 1 ],
    [ 'a link on the way leads elsewhere', sub {
        rename "$_[0]/a", "$_[0]/real" or die $!;
        mkdir "$_[0]/other";
        put("$_[0]/other/.htaccess", $ban);
        rename "$_[0]/real/b", "$_[0]/b" or die $!;
        symlink "../b", "$_[0]/$_/b" for qw(real other);
        symlink 'real', "$_[0]/a";
    }, sub {
        # both have links to the same file
        unlink "$_[0]/a";
        symlink 'other', "$_[0]/a";
    }, 1 ],
    [ 'its text grows long', sub { put("$_[0]/a/.htaccess", $ban) },
        sub { put("$_[0]/a/.htaccess", ('#' x 99 . "\n") x 700 . $ban) }, 0 ],
    [ 'what is not understood goes', sub {
        put("$_[0]/a/.htaccess", "Header set X-A \"expr=%{HTTP_COOKIE}\"\n")
    }, sub { put("$_[0]/a/.htaccess", $ban) }, 1, 0 ],
    [ 'the file below changes, too', sub { put("$_[0]/a/.htaccess", $ban) },
        sub {
            put("$_[0]/a/.htaccess", "Header set X-A b\n");
            put("$_[0]/a/b/c/f.txt", "another text\n");
        }, 1 ],
    [ 'a target appears in the place of the file', sub {},
        sub {
            unlink "$_[0]/a/b/c/f.txt";
            mkdir "$_[0]/a/b/c/f.txt" or die $!;
            put("$_[0]/a/b/c/f.txt/.htaccess", $ban);
        }, 0 ],
    [ 'nothing', sub { put("$_[0]/a/.htaccess", $ban) }, sub {}, 1 ],
);
if ($> == 0) { # its mode counts for children that are somebody else
    push @cases, [ 'cannot be read any more',
        sub { put("$_[0]/a/b/c/.htaccess", $ban) },
        sub { chmod 0, "$_[0]/a/b/c/.htaccess" }, 0 ],
        [ 'its directory is closed',
            sub { put("$_[0]/a/b/c/.htaccess", $ban) },
            sub { chmod 0, "$_[0]/a/b" }, 0 ];
}

sub expect {
    my ($t, $conf) = @_;
    $t->file("c$_/a/b/c/f.txt", "some text\n" x 50) for 0 .. $#cases;
    $t->change(sub {
        my ($root) = @_;
        $cases[$_][1]->("$root/c$_") for 0 .. $#cases;
    });
    $_->{allow_log} = qr/htaccess/ for $t->both;
    $t->start;
    $t->settle;
    my @requests = map $t->request("/c$_/a/b/c/f.txt"), 0 .. $#cases;
    my $learn = sub {
        for (1 .. 4) {
            $t->ask($t->fixed, [ ($_) x 4 ]) for @requests;
        }
    };
    my $hits = sub {
        my ($n, $want, $when) = @_;
        my $before = $t->hits;
        $t->ask($t->fixed, [ $requests[$n] ]);
        my $got = $t->hits > $before || ($want && $t->learned($requests[$n]));
        ok $want ? $got : !$got, "$cases[$n][0]: $when";
    };
    $learn->();
    for my $n (0 .. $#cases) {
        $hits->($n, $cases[$n][4] // 1, 'learned before');
        $t->same("$cases[$n][0]: before", [ ($requests[$n]) x 2 ]);
    }
    for my $n (0 .. $#cases) {
        $t->change(sub { $cases[$n][2]->("$_[0]/c$n") });
        $t->same("$cases[$n][0]: after", [ ($requests[$n]) x 2 ]);
        $t->same("$cases[$n][0]: once more", [ ($requests[$n]) x 2 ]);
    }
    $t->settle;
    $learn->();
    for my $n (0 .. $#cases) {
        $hits->($n, $cases[$n][3], 'learned again, or not');
        $t->same("$cases[$n][0]: at last", [ ($requests[$n]) x 2 ]);
    }
}

my $conf = <<'END';
AccessFileName .htaccess .second
FixedStaticCache 10000 0
<Directory "@ROOT@/htdocs">
    AllowOverride All
    Options FollowSymLinks
</Directory>
END
my $t = Test::Twin->new(modules => ['headers'], conf => $conf);
expect($t);
is $t->counter('differed'), 0, 'audits found nothing';

# The entries of a directory have one list: many files, few looks.
$t->file("many/deep/$_.txt", "text $_\n") for 1 .. 20;
$t->file('many/.htaccess', $ban);
$t->settle;
my @many = map $t->request("/many/deep/$_.txt"), 1 .. 20;
for (1 .. 4) {
    $t->ask($t->fixed, [ ($_) x 4 ]) for @many;
}
my $before = $t->hits;
$t->same('many', [ @many, @many ]);
cmp_ok $t->hits, '>', $before, 'of which some are the loop\'s';
$t->change(sub { unlink "$_[0]/many/.htaccess" });
$t->same('many without it', [ @many, @many ]);

# A pipe of that name: the loop looks, and waits for nobody; a thread of httpd
# does, as stock httpd's would.
my $r = $t->request('/many/deep/1.txt');
ok $t->learned($r), 'learned before there is a pipe';
my $pipe = $t->fixed->root . '/htdocs/many/.htaccess';
require POSIX;
POSIX::mkfifo($pipe, 0666) or die $!;
my $s = Test::Twin::_connect($t->fixed);
print {$s} $r;
$t->same('others are answered', [ $t->request('/1k.txt') ]);
my $writer;
$t->fixed->wait_for(sub {
    sysopen $writer, $pipe, POSIX::O_WRONLY() | POSIX::O_NONBLOCK();
}, 20);
ok $writer, 'httpd waits for its other end';
close $writer;
unlink $pipe;
like Test::Twin::_answer($s), qr{^HTTP/1\.1 (?:200|403)}, 'and goes on';
close $s;
$t->finish;

# One hit in 50 is audited. An audit may find that another file has come, which
# is no difference, though VALID is long.
sub hammer {
    my ($request, $count) = @_;
    my $c = Test::Twin::_connect($t->fixed);
    for (1 .. $count) {
        print {$c} $request;
        Test::Twin::_answer($c);
    }
}
$t = Test::Twin->new(modules => ['headers'],
    conf => "MaxKeepAliveRequests 0\n" . $conf =~ s/10000 0/10000 60s/r);
$t->file("$_.txt", 'text') for qw(f g);
$t->start;
my @two = map $t->request("/$_.txt"), qw(f g);
ok $t->learned($_), 'audit: learned' for @two;
ok $t->fixed->wait_for(sub {
    hammer($two[0], 100);
    return $t->counter('audited') >= 4;
}, 20), 'audit: some of a few hundred';
cmp_ok $t->hits, '<', 2000, 'audit: one in 50, not one in 1000';
$t->change(sub { put("$_[0]/.htaccess", "Header set X-A a\n") });
my ($is) = $t->ask($t->stock, [ $two[1] ]);
ok $t->fixed->wait_for(sub {
    hammer($two[1], 50);
    my ($fixed) = $t->ask($t->fixed, [ $two[1] ]);
    return $fixed eq $is;
}, 20), 'audit: another file is found';
is $t->counter('differed'), 0, 'audit: and is no difference';
$t->finish;

# Within VALID an answer is repeated, after it not.
$t = Test::Twin->new(conf => $conf =~ s/10000 0/10000 2s/r);
$t->file('f.txt', "text\n");
$t->start;
$r = $t->request('/f.txt');
ok $t->learned($r), 'VALID: learned';
$t->change(sub { put("$_[0]/.htaccess", $ban) });
my ($stock) = $t->ask($t->stock, [ $r ]);
ok $t->fixed->wait_for(sub {
    my ($fixed) = $t->ask($t->fixed, [ $r ]);
    return $fixed eq $stock;
}, 10), 'VALID: it counts when that is over';
$t->finish;

# As it was, with the switch; also for a configuration that lets httpd look
# everywhere.
$t = Test::Twin->new(conf => "FixedStaticHtaccess off\n$conf");
$t->file('f.txt', "text\n");
$t->start;
$r = $t->request('/f.txt');
$before = $t->hits;
$t->learn($r);
is $t->hits, $before, 'FixedStaticHtaccess off: nothing is learned';
my ($code, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
like $dump, qr/R1: AllowOverride lets httpd look/, 'which the dump shows';
$t->finish;
done_testing;
